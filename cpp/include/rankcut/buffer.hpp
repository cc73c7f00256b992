// Vectors of numbers that are written before they are read: growing them writes nothing, and large ones ask the
// system for large pages, which a pass in random order needs (a small page is looked up for almost every access).
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

namespace rankcut {

void* allocate_pages(std::size_t bytes);
void free_pages(void* memory) noexcept;

template <class T>
struct Pages {
    using value_type = T;
    Pages() = default;
    template <class U>
    Pages(const Pages<U>&) noexcept {}

    T* allocate(std::size_t n) { return static_cast<T*>(allocate_pages(n * sizeof(T))); }
    void deallocate(T* memory, std::size_t) noexcept { free_pages(memory); }
    template <class U>
    void construct(U* at) noexcept { ::new (static_cast<void*>(at)) U; }  // without a value
    template <class U, class... Args>
    void construct(U* at, Args&&... args) { ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...); }
    bool operator==(const Pages&) const = default;
};

template <class T>
using Buffer = std::vector<T, Pages<T>>;

}  // namespace rankcut
