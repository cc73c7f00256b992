// The innermost loops of the products, as a table of functions for one instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rankcut::product {

inline constexpr std::size_t kMaxProblems = 6;  // dense kernels: problems held in registers
inline constexpr std::size_t kSparsePack = 8;   // sparse kernels: problems side by side

// A line is read in whole vectors; what is left over is read as one more vector, which ends with the
// line and overlaps those before. In dots its weights are 0 there; in combine its sums have a place of
// their own, of which the caller drops the overlap. Lines shorter than a vector never come here.
template <class T>
struct DenseKernels {
    // out[p * ld_out + i] += sum over c < width of w[p * ldw + c] x[i * stride + c], plus the last
    // vector at x[i * stride + last] with weights tail[p * lanes ...] unless tail is null.
    void (*dots)(std::size_t n_problems, const T* x, std::ptrdiff_t stride, std::size_t n_lines,
                 std::size_t width, const double* w, std::size_t ldw, const double* tail,
                 std::ptrdiff_t last, double* out, std::size_t ld_out);
    // acc[p * ld_acc + c] += sum over i of b[i * n_problems + p] x[i][c] for c < width, and, if
    // has_last, acc[p * ld_acc + width + l] the same for the vector at x[i][last + l], l < lanes.
    // The lines `next` are those of the next call.
    void (*combine)(std::size_t n_problems, const T* const* x, std::size_t n_lines,
                    const T* const* next, std::size_t n_next, const double* b, std::size_t width,
                    bool has_last, std::ptrdiff_t last, double* acc, std::size_t ld_acc);
};

// Lines [first, end) of a compressed matrix. "One" takes one problem. "Many" takes `wide` problems, a
// multiple of kSparsePack, side by side: those of place c are at c * wide; n_problems of them are real.
template <class T, class I>
struct SparseKernels {
    void (*dots_one)(const I* starts, const I* index, const T* data, std::size_t first,
                     std::size_t end, const double* b, double* out);
    void (*dots_many)(const I* starts, const I* index, const T* data, std::size_t first,
                      std::size_t end, const double* b, std::size_t wide, std::size_t n_problems,
                      double* out, std::size_t ld_out);
    void (*combine_one)(const I* starts, const I* index, const T* data, std::size_t first,
                        std::size_t end, const double* b, double* out);
    void (*combine_many)(const I* starts, const I* index, const T* data, std::size_t first,
                         std::size_t end, const double* b, std::size_t ldb, std::size_t n_problems,
                         double* out, std::size_t wide);
};

struct Kernels {
    std::size_t lanes;
    DenseKernels<float> dense32;
    DenseKernels<double> dense64;
    SparseKernels<float, std::int32_t> sparse32_32;
    SparseKernels<float, std::int64_t> sparse32_64;
    SparseKernels<double, std::int32_t> sparse64_32;
    SparseKernels<double, std::int64_t> sparse64_64;

    const DenseKernels<float>& dense(float) const { return dense32; }
    const DenseKernels<double>& dense(double) const { return dense64; }
    const auto& sparse(float, std::int32_t) const { return sparse32_32; }
    const auto& sparse(float, std::int64_t) const { return sparse32_64; }
    const auto& sparse(double, std::int32_t) const { return sparse64_32; }
    const auto& sparse(double, std::int64_t) const { return sparse64_64; }
};

const Kernels& kernels();

// How many of the n weights are not 0 in some problem.
std::size_t count_active(std::size_t n_problems, std::size_t n, const double* b);

// Below this many multiplications starting threads costs more than it saves.
inline int threads_for(std::size_t work, int n_threads) { return work < 2000000 ? 1 : n_threads; }

}  // namespace rankcut::product
