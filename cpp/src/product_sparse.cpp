// Sparse products: CSR and CSC are the same matrix of compressed lines seen from two sides, so that
// two kernels, dots and combine, serve all four products.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "product_kernels.hpp"
#include "rankcut/product.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {
namespace {

using product::count_active;
using product::kernels;
using product::kSparsePack;
using product::threads_for;
using std::size_t;

template <class T, class I>
size_t n_entries(const Compressed<T, I>& x) {
    return static_cast<size_t>(x.starts[x.n_lines()]);
}

// The first line of share t of n: each holds about as many entries (an empty line counts as one).
template <class T, class I>
size_t share_border(const Compressed<T, I>& x, size_t t, size_t n) {
    if (t == n) return x.n_lines();
    const size_t target = (n_entries(x) + x.n_lines()) * t / n;
    size_t low = 0, high = x.n_lines();
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (static_cast<size_t>(x.starts[middle]) + middle < target) low = middle + 1;
        else high = middle;
    }
    return low;
}

// How many of the problems that are left go side by side, and in how wide a row: as many as still let
// the rows stay in the second cache, or one pack. If not even that does, two are faster one by one.
struct Group {
    size_t n, wide;

    Group(size_t left, size_t length) {
        constexpr size_t kCache = 1 << 17;
        const size_t packs = std::clamp<size_t>(kCache / kSparsePack / std::max<size_t>(1, length), 1, 4);
        const bool alone = left == 1 || (left == 2 && length * kSparsePack > kCache);
        n = alone ? 1 : std::min(left, packs * kSparsePack);
        wide = alone ? 1 : (n + kSparsePack - 1) / kSparsePack * kSparsePack;
    }
};

// Memory that is written before it is read.
std::unique_ptr<double[]> scratch(size_t n) { return std::unique_ptr<double[]>(new double[n]); }

// packed[c * wide + p] = b[p][c]: the problems side by side, zeros for those that are missing.
void interleave(size_t length, const Group& group, const double* b, double* packed, int n_threads) {
    constexpr size_t kBlock = 4096;
    parallel_for((length + kBlock - 1) / kBlock, n_threads, [&](size_t t) {
        for (size_t c = t * kBlock; c < std::min(length, (t + 1) * kBlock); ++c)
            for (size_t p = 0; p < group.wide; ++p)
                packed[c * group.wide + p] = p < group.n ? b[p * length + c] : 0.0;
    });
}

template <class T, class I>
void dots(const Compressed<T, I>& x, size_t n_problems, const double* b, double* out,
          int n_threads) {
    const auto& kernel = kernels().sparse(T{}, I{});
    const size_t n_lines = x.n_lines(), length = x.length();
    const int threads = threads_for((n_entries(x) + n_lines) * n_problems, n_threads);
    const size_t shares = std::clamp<size_t>((n_entries(x) + n_lines) / 32768, 1, 1024);
    const auto packed = scratch(length * Group(n_problems, length).wide);
    for (size_t p = 0, n = 0; p < n_problems; p += n) {
        const Group group(n_problems - p, length);
        n = group.n;
        if (group.n > 1) interleave(length, group, b + p * length, packed.get(), threads);
        parallel_for(shares, threads, [&](size_t t) {
            const size_t first = share_border(x, t, shares), end = share_border(x, t + 1, shares);
            double* to = out + p * n_lines;
            if (group.n == 1)
                kernel.dots_one(x.starts, x.index, x.data, first, end, b + p * length, to);
            else
                kernel.dots_many(x.starts, x.index, x.data, first, end, packed.get(), group.wide,
                                 group.n, to, n_lines);
        });
    }
}

// Blocks of lines, each with sums of its own, are added up in order. Their number depends on the
// matrix alone, and is such that the sums take little memory beside it.
size_t line_blocks(size_t entries, size_t length) {
    const size_t least = entries >= 4 * length ? 2 : 1;
    return std::clamp<size_t>(entries / std::max<size_t>(1, 16 * length), least, 8);
}

void add_up(double* sums, size_t n_blocks, size_t length, const Group& group, double* out,
            int n_threads) {
    constexpr size_t kColumns = 512;
    parallel_for((length + kColumns - 1) / kColumns, n_threads, [&](size_t t) {
        const size_t from = t * kColumns, n = std::min(kColumns, length - from);
        double* all = sums + from * group.wide;
        for (size_t block = 1; block < n_blocks; ++block) {
            const double* more = all + block * length * group.wide;
            for (size_t i = 0; i < n * group.wide; ++i) all[i] += more[i];
        }
        for (size_t q = 0; q < group.n; ++q)
            for (size_t c = 0; c < n; ++c) out[q * length + from + c] = all[c * group.wide + q];
    });
}

template <class T, class I>
void combine(const Compressed<T, I>& x, size_t n_problems, const double* b, double* out,
             int n_threads) {
    const auto& kernel = kernels().sparse(T{}, I{});
    const size_t n_lines = x.n_lines(), length = x.length();
    const int threads = threads_for((n_entries(x) + n_lines) * n_problems, n_threads);
    const size_t n_blocks = line_blocks(n_entries(x), length);
    const auto sums = scratch(n_blocks * length * Group(n_problems, length).wide);
    for (size_t p = 0, n = 0; p < n_problems; p += n) {
        const Group group(n_problems - p, length);
        n = group.n;
        const size_t wide = group.wide;
        parallel_for(n_blocks, threads, [&](size_t block) {
            const size_t first = share_border(x, block, n_blocks);
            const size_t end = share_border(x, block + 1, n_blocks);
            const double* from = b + p * n_lines;
            double* mine = sums.get() + block * length * wide;
            std::fill_n(mine, length * wide, 0.0);
            if (group.n == 1)
                kernel.combine_one(x.starts, x.index, x.data, first, end, from, mine);
            else
                kernel.combine_many(x.starts, x.index, x.data, first, end, from, n_lines,
                                    group.n, mine, wide);
        });
        add_up(sums.get(), n_blocks, length, group, out + p * length, threads);
    }
}

}  // namespace

template <class T, class I>
void scores(const Compressed<T, I>& x, size_t n_problems, const double* w, double* s,
            int n_threads) {
    if (x.by_rows) dots(x, n_problems, w, s, n_threads);
    else combine(x, n_problems, w, s, n_threads);
}

template <class T, class I>
size_t pull(const Compressed<T, I>& x, size_t n_problems, const double* a, double* g,
            int n_threads) {
    if (x.by_rows) combine(x, n_problems, a, g, n_threads);
    else dots(x, n_problems, a, g, n_threads);
    return count_active(n_problems, x.n_rows, a);
}

template <class T, class I>
void moments(const Compressed<T, I>& x, const std::int64_t* rows, size_t n, const double* weights,
             size_t n_vectors, const double* vectors, double* second, double* first) {
    const size_t d = x.n_columns;
    std::fill(second, second + d * d, 0.0);
    std::fill(first, first + n_vectors * d, 0.0);
    for (size_t i = 0; i < n; ++i) {
        const auto row = static_cast<size_t>(rows[i]);
        const auto begin = static_cast<size_t>(x.starts[row]), end = static_cast<size_t>(x.starts[row + 1]);
        for (size_t e = begin; e < end; ++e) {  // each pair of entries once, wherever the order of columns puts it
            const auto value = static_cast<double>(x.data[e]);
            const auto column = static_cast<size_t>(x.index[e]);
            double* const line = second + column * d;
            for (size_t f = begin; f < e; ++f)
                line[x.index[f]] += weights[i] * value * static_cast<double>(x.data[f]);
            line[column] += 0.5 * weights[i] * value * value;
            for (size_t k = 0; k < n_vectors; ++k) first[k * d + column] += vectors[k * n + i] * value;
        }
    }
    for (size_t a = 0; a < d; ++a)
        for (size_t b = 0; b <= a; ++b) second[a * d + b] = second[b * d + a] = second[a * d + b] + second[b * d + a];
}

template <class T, class I>
std::string defect(const Compressed<T, I>& x, size_t entries) {
    const std::string line = x.by_rows ? "row " : "column ";
    const std::string other = x.by_rows ? "column" : "row";
    if (x.starts[0] != 0)
        return "indptr must start at 0, but starts at " + std::to_string(x.starts[0]);
    for (size_t i = 0; i < x.n_lines(); ++i)
        if (x.starts[i + 1] < x.starts[i])
            return "indptr must not fall, but falls from " + std::to_string(x.starts[i]) + " to " +
                   std::to_string(x.starts[i + 1]) + " at " + line + std::to_string(i);
    if (n_entries(x) > entries)
        return "indptr ends at " + std::to_string(n_entries(x)) + ", but there are only " +
               std::to_string(entries) + " entries";
    for (size_t i = 0; i < x.n_lines(); ++i)
        for (I e = x.starts[i]; e < x.starts[i + 1]; ++e)
            if (x.index[e] < 0 || static_cast<size_t>(x.index[e]) >= x.length())
                return "indices must be from 0 to " + std::to_string(x.length()) + " - 1, but " +
                       line + std::to_string(i) + " has " + other + " index " +
                       std::to_string(x.index[e]) + " (entry " + std::to_string(e) + ")";
    return "";
}

#define RANKCUT_SPARSE(T, I)                                                                     \
    template void scores(const Compressed<T, I>&, size_t, const double*, double*, int);          \
    template size_t pull(const Compressed<T, I>&, size_t, const double*, double*, int);          \
    template void moments(const Compressed<T, I>&, const std::int64_t*, size_t, const double*, size_t, const double*, \
                          double*, double*);                                                     \
    template std::string defect(const Compressed<T, I>&, size_t);
RANKCUT_SPARSE(float, std::int32_t)
RANKCUT_SPARSE(float, std::int64_t)
RANKCUT_SPARSE(double, std::int32_t)
RANKCUT_SPARSE(double, std::int64_t)

}  // namespace rankcut
