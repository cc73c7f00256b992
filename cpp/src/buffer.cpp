#include "rankcut/buffer.hpp"

#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace rankcut {
namespace {

constexpr std::size_t large_page = std::size_t{1} << 21;
constexpr std::align_val_t alignment{64};

}  // namespace

void* allocate_pages(std::size_t bytes) {
    void* const memory = ::operator new(bytes, alignment);
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (bytes >= 2 * large_page) {  // the whole large pages within; advice that the system may refuse
        const auto begin = (reinterpret_cast<std::size_t>(memory) + large_page - 1) / large_page * large_page;
        const auto end = (reinterpret_cast<std::size_t>(memory) + bytes) / large_page * large_page;
        if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
    }
#endif
    return memory;
}

void free_pages(void* memory) noexcept { ::operator delete(memory, alignment); }

}  // namespace rankcut
