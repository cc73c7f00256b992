// Dense products: cuts the matrix into blocks that fit the caches and hands them to the kernels.
#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "product_kernels.hpp"
#include "rankcut/product.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {
namespace {

using product::count_active;
using product::kernels;
using product::threads_for;
using std::ptrdiff_t;
using std::size_t;

template <class T>
struct Lines {
    const T* data;
    size_t n_lines, length;
    ptrdiff_t stride;

    const T* line(size_t i) const { return data + static_cast<ptrdiff_t>(i) * stride; }
};

template <class T>
bool lines_are_rows(const Dense<T>& x) {
    if (x.column_stride == 1 && x.row_stride == 1) return x.n_columns >= x.n_rows;
    return x.column_stride == 1 || x.row_stride != 1;
}

template <class T>
Lines<T> by_rows(const Dense<T>& x) { return {x.data, x.n_rows, x.n_columns, x.row_stride}; }

template <class T>
Lines<T> by_columns(const Dense<T>& x) { return {x.data, x.n_columns, x.n_rows, x.column_stride}; }

// How a line splits into whole vectors and a last one that ends with it (see DenseKernels).
struct Split {
    size_t lanes, head;
    bool has_last;

    explicit Split(size_t length)
        : lanes(kernels().lanes), head(length / lanes * lanes), has_last(head != length) {}
};

// ---- dots ---------------------------------------------------------------------------------------

constexpr size_t kDotsWidth = 2048;   // columns of a block: a tile's weights stay in the caches
constexpr size_t kDotsBytes = 1 << 17;  // of X in a block: it stays in the second

// Weights of the last vector of each problem: 0 where the vector overlaps the head.
std::vector<double> tails(const Split& split, size_t length, size_t n_problems, const double* b) {
    std::vector<double> tail(split.has_last ? n_problems * split.lanes : 0, 0.0);
    if (split.has_last)
        for (size_t p = 0; p < n_problems; ++p)
            for (size_t c = split.head; c < length; ++c)
                tail[p * split.lanes + (c + split.lanes - length)] = b[p * length + c];
    return tail;
}

template <class T>
void dots_short(const Lines<T>& x, size_t first, size_t end, size_t n_problems, const double* b,
                double* out) {
    for (size_t p = 0; p < n_problems; ++p)
        for (size_t i = first; i < end; ++i) {
            double sum = 0.0;
            for (size_t c = 0; c < x.length; ++c)
                sum += static_cast<double>(x.line(i)[c]) * b[p * x.length + c];
            out[p * x.n_lines + i] = sum;
        }
}

template <class T>
void dots_block(const Lines<T>& x, size_t first, size_t end, size_t n_problems, const double* b,
                const std::vector<double>& tail, double* out) {
    const Split split(x.length);
    for (size_t p = 0; p < n_problems; ++p)
        std::fill(out + p * x.n_lines + first, out + p * x.n_lines + end, 0.0);
    const size_t n_blocks = (x.length + kDotsWidth - 1) / kDotsWidth;
    for (size_t block = 0; block < n_blocks; ++block) {
        const size_t c = block * kDotsWidth;
        const size_t width = std::min(kDotsWidth, split.head - c);
        const bool with_last = split.has_last && block + 1 == n_blocks;
        const auto last = static_cast<ptrdiff_t>(x.length - split.lanes) - static_cast<ptrdiff_t>(c);
        kernels().dense(T{}).dots(n_problems, x.line(first) + c, x.stride, end - first, width, b + c,
                                  x.length, with_last ? tail.data() : nullptr, last, out + first,
                                  x.n_lines);
    }
}

template <class T>
void dots(const Lines<T>& x, size_t n_problems, const double* b, double* out, int n_threads) {
    const Split split(x.length);
    const auto tail = x.length < split.lanes ? std::vector<double>()
                                             : tails(split, x.length, n_problems, b);
    const size_t line_bytes = std::max<size_t>(1, std::min(x.length, kDotsWidth)) * sizeof(T);
    const size_t block = std::max<size_t>(64, kDotsBytes / line_bytes / 4 * 4);
    const size_t n_blocks = (x.n_lines + block - 1) / block;
    parallel_for(n_blocks, threads_for(x.n_lines * x.length * n_problems, n_threads), [&](size_t t) {
        const size_t first = t * block, end = std::min(x.n_lines, first + block);
        if (x.length < split.lanes) dots_short(x, first, end, n_problems, b, out);
        else dots_block(x, first, end, n_problems, b, tail, out);
    });
}

// The same over a few places of the lines only: they are packed, a block at a time.
template <class T>
void dots_at(const Lines<T>& x, const std::vector<size_t>& places, size_t n_problems,
             const double* b, double* out, int n_threads) {
    constexpr size_t kLines = 16;
    const size_t lanes = kernels().lanes;
    const size_t padded = (places.size() + lanes - 1) / lanes * lanes;
    std::vector<double> weights(n_problems * padded, 0.0);
    for (size_t p = 0; p < n_problems; ++p)
        for (size_t m = 0; m < places.size(); ++m)
            weights[p * padded + m] = b[p * x.length + places[m]];
    const size_t n_blocks = (x.n_lines + kLines - 1) / kLines;
    const int threads = threads_for(x.n_lines * places.size() * n_problems, n_threads);
    parallel_for(n_blocks, threads, [&](size_t t) {
        const size_t first = t * kLines, n = std::min(x.n_lines - first, kLines);
        std::vector<double> pack(kLines * kDotsWidth);
        for (size_t p = 0; p < n_problems; ++p)
            std::fill_n(out + p * x.n_lines + first, n, 0.0);
        for (size_t m = 0; m < padded; m += kDotsWidth) {
            const size_t width = std::min(kDotsWidth, padded - m);
            const size_t filled = std::min(width, places.size() - m);
            for (size_t i = 0; i < n; ++i) {
                double* row = pack.data() + i * kDotsWidth;
                const T* line = x.line(first + i);
                for (size_t c = 0; c < filled; ++c) row[c] = static_cast<double>(line[places[m + c]]);
                std::fill(row + filled, row + width, 0.0);
            }
            kernels().dense(0.0).dots(n_problems, pack.data(), kDotsWidth, n, width,
                                      weights.data() + m, padded, nullptr, 0, out + first,
                                      x.n_lines);
        }
    });
}

// ---- combine ------------------------------------------------------------------------------------

// Lines that weigh something, with their weights side by side.
template <class T>
struct Batch {
    static constexpr size_t kStep = 64, kSize = 256;
    std::vector<const T*> lines;
    std::vector<double> weights;
    size_t n_problems, n = 0;

    explicit Batch(size_t n_problems_)
        : lines(kSize), weights(kSize * n_problems_), n_problems(n_problems_) {}

    // Takes lines from i on until it is full; returns where to go on.
    size_t fill(const Lines<T>& x, size_t i, size_t end, size_t column, const double* b) {
        for (n = 0; i < end && n + kStep <= kSize; i += kStep)
            add(x, i, std::min(kStep, end - i), column, b);
        return i;
    }

    void add(const Lines<T>& x, size_t i, size_t count, size_t column, const double* b) {
        double* from = weights.data() + n * n_problems;
        bool active[kStep] = {};
        for (size_t p = 0; p < n_problems; ++p)
            for (size_t j = 0; j < count; ++j) {
                const double weight = b[p * x.n_lines + i + j];
                from[j * n_problems + p] = weight;
                active[j] |= weight != 0.0;
            }
        for (size_t j = 0; j < count; ++j) {
            lines[n] = x.line(i + j) + column;
            double* to = weights.data() + n * n_problems;
            if (active[j] && to != from) std::copy_n(from, n_problems, to);
            n += active[j];
            from += n_problems;
        }
    }
};

// For lines shorter than a vector.
template <class T>
void combine_short(const Batch<T>& batch, size_t width, double* acc) {
    for (size_t i = 0; i < batch.n; ++i)
        for (size_t p = 0; p < batch.n_problems; ++p)
            for (size_t c = 0; c < width; ++c)
                acc[p * width + c] += batch.weights[i * batch.n_problems + p] *
                                      static_cast<double>(batch.lines[i][c]);
}

// Walks in panels of a few lines, so that their numbers and the sums stay in the caches.
template <class T>
void combine_batch(const Batch<T>& batch, const Batch<T>& next, const Split& split, ptrdiff_t last,
                   double* acc, size_t slots) {
    const size_t panel = batch.n_problems < 3 ? 16 : 32;
    for (size_t i = 0, n = 0; i < batch.n; i += n) {
        n = std::min(panel, batch.n - i);
        const bool within = i + n < batch.n;
        const T* const* ahead = within ? batch.lines.data() + i + n : next.lines.data();
        const size_t n_ahead = std::min(panel, within ? batch.n - i - n : next.n);
        kernels().dense(T{}).combine(batch.n_problems, batch.lines.data() + i, n, ahead, n_ahead,
                                     batch.weights.data() + i * batch.n_problems, split.head,
                                     split.has_last, last, acc, slots);
    }
}

// The columns [from, to) of the sum of the lines [first, end), into `out` (n_problems rows, ld
// apart).
template <class T>
void combine_block(const Lines<T>& x, size_t first, size_t end, size_t from, size_t to,
                   size_t n_problems, const double* b, double* out, size_t ld) {
    const size_t width = to - from;
    const Split split(width);
    const bool is_short = x.length < split.lanes;
    const size_t slots = is_short ? width : split.head + (split.has_last ? split.lanes : 0);
    const auto last = static_cast<ptrdiff_t>(width) - static_cast<ptrdiff_t>(split.lanes);
    std::vector<double> acc(n_problems * slots, 0.0);
    Batch<T> batch(n_problems), next(n_problems);
    for (size_t i = next.fill(x, first, end, from, b); next.n > 0;) {
        std::swap(batch, next);
        i = next.fill(x, i, end, from, b);
        if (is_short) combine_short(batch, width, acc.data());
        else combine_batch(batch, next, split, last, acc.data(), slots);
    }
    // The sums of the last vector follow those of the head, its overlap with them first.
    for (size_t p = 0; p < n_problems; ++p)
        for (size_t c = 0; c < width; ++c)
            out[p * ld + c] = acc[p * slots + (is_short || c < split.head ? c : c + slots - width)];
}

// Blocks of lines, each with sums of its own, are added up in order at the end. Their number
// depends on the shape alone, and there is one only if columns enough can be shared out instead.
size_t line_blocks(size_t n_lines, size_t length) {
    if (length >= 8192) return 1;
    return std::clamp<size_t>(n_lines / 2048, 1, 16);
}

// The width of a block of columns changes no sum, so it may depend on anything.
size_t column_width(size_t length, size_t n_problems, size_t n_blocks, int n_threads) {
    const size_t threads = static_cast<size_t>(std::max(1, n_threads));
    const size_t most = n_problems < 5 ? 2048 : 512;
    const size_t shares = (threads + n_blocks - 1) / n_blocks;
    const size_t even = ((length + shares - 1) / shares + 63) / 64 * 64;
    return std::clamp<size_t>(even, 64, most);
}

template <class T>
void combine(const Lines<T>& x, size_t n_problems, const double* b, double* out, int n_threads) {
    const int threads = threads_for(x.n_lines * x.length * n_problems, n_threads);
    const size_t n_blocks = line_blocks(x.n_lines, x.length);
    const size_t width = column_width(x.length, n_problems, n_blocks, threads);
    const size_t n_columns = (x.length + width - 1) / width;
    const size_t size = n_problems * x.length;
    std::vector<double> partial(n_blocks > 1 ? (n_blocks - 1) * size : 0);
    parallel_for(n_blocks * n_columns, threads, [&](size_t t) {
        const size_t block = t / n_columns, from = t % n_columns * width;
        double* sums = block == 0 ? out : partial.data() + (block - 1) * size;
        combine_block(x, x.n_lines * block / n_blocks, x.n_lines * (block + 1) / n_blocks, from,
                      std::min(x.length, from + width), n_problems, b, sums + from, x.length);
    });
    for (size_t block = 1; block < n_blocks; ++block)
        for (size_t i = 0; i < size; ++i) out[i] += partial[(block - 1) * size + i];
}

std::vector<size_t> active_places(size_t n_problems, size_t n, const double* b) {
    std::vector<size_t> places;
    for (size_t i = 0; i < n; ++i) {
        bool active = false;
        for (size_t p = 0; p < n_problems && !active; ++p) active = b[p * n + i] != 0.0;
        if (active) places.push_back(i);
    }
    return places;
}

}  // namespace

template <class T>
void scores(const Dense<T>& x, size_t n_problems, const double* w, double* s, int n_threads) {
    if (lines_are_rows(x)) dots(by_rows(x), n_problems, w, s, n_threads);
    else combine(by_columns(x), n_problems, w, s, n_threads);
}

template <class T>
size_t pull(const Dense<T>& x, size_t n_problems, const double* a, double* g, int n_threads) {
    const size_t active = count_active(n_problems, x.n_rows, a);
    if (lines_are_rows(x)) {
        combine(by_rows(x), n_problems, a, g, n_threads);
    } else if (active > x.n_rows / 4) {
        dots(by_columns(x), n_problems, a, g, n_threads);
    } else {
        dots_at(by_columns(x), active_places(n_problems, x.n_rows, a), n_problems, a, g, n_threads);
    }
    return active;
}

template void scores(const Dense<float>&, size_t, const double*, double*, int);
template void scores(const Dense<double>&, size_t, const double*, double*, int);
template size_t pull(const Dense<float>&, size_t, const double*, double*, int);
template size_t pull(const Dense<double>&, size_t, const double*, double*, int);

}  // namespace rankcut
