#include "rankcut/loss/rows.hpp"

#include <algorithm>
#include <cstdint>

#include "rankcut/loss/order.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {

template <class I>
std::size_t partition(const bool* relevant, std::size_t n, I* order) {
    std::size_t first = 0, second = static_cast<std::size_t>(std::count(relevant, relevant + n, true));
    const std::size_t count = second;
    for (std::size_t i = 0; i < n; ++i) {
        const bool is = relevant[i];
        order[is ? first : second] = static_cast<I>(i);
        first += is;
        second += !is;
    }
    return count;
}

template <class I>
void gather(const double* values, const I* order, std::size_t n, double* out, int n_threads) {
    in_blocks(n, n_threads, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) out[i] = values[order[i]];
    });
}

template <class I>
void scatter(const double* values, const I* order, std::size_t n, double* out, int n_threads) {
    in_blocks(n, n_threads, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) out[order[i]] = values[i];
    });
}

template std::size_t partition(const bool*, std::size_t, std::int32_t*);
template std::size_t partition(const bool*, std::size_t, std::int64_t*);
template void gather(const double*, const std::int32_t*, std::size_t, double*, int);
template void gather(const double*, const std::int64_t*, std::size_t, double*, int);
template void scatter(const double*, const std::int32_t*, std::size_t, double*, int);
template void scatter(const double*, const std::int64_t*, std::size_t, double*, int);

}  // namespace rankcut
