// The two products of a design: scores S = W Xᵀ and the pull G = A X, for K problems at once.
//
// W and G are (K, n_columns), A and S are (K, n_rows), all row-major float64. X is never copied:
// it is read where it lies, float32 or float64, and every sum runs in float64.
//
// However X is stored, its numbers come as "lines" (rows or columns) and there are two kernels:
//   dots     one number per line:         out[k][i] = sum over c of b[k][c] x[i][c]
//   combine  one weighted sum of lines:   out[k][c] = sum over i of b[k][i] x[i][c]
// Scores are dots if the lines are rows and combine if they are columns; the pull is the other one.
//
// The result is the same bit for bit for any number of threads, and a problem's scores do not
// depend on the problems beside it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace rankcut {

// One of the strides must be 1 (or its dimension at most 1 long); they count elements, not bytes.
template <class T>
struct Dense {
    const T* data;
    std::size_t n_rows, n_columns;
    std::ptrdiff_t row_stride, column_stride;
};

// CSR if by_rows, else CSC: line i holds data[e] at index[e] for starts[i] <= e < starts[i + 1].
template <class T, class I>
struct Compressed {
    const I* starts;
    const I* index;
    const T* data;
    std::size_t n_rows, n_columns;
    bool by_rows;

    std::size_t n_lines() const { return by_rows ? n_rows : n_columns; }
    std::size_t length() const { return by_rows ? n_columns : n_rows; }
};

// T is float or double, I is int32_t or int64_t.
template <class T>
void scores(const Dense<T>& x, std::size_t n_problems, const double* w, double* s, int n_threads);
template <class T, class I>
void scores(const Compressed<T, I>& x, std::size_t n_problems, const double* w, double* s,
            int n_threads);

// The pull returns how many rows have a weight other than 0 in some problem.
template <class T>
std::size_t pull(const Dense<T>& x, std::size_t n_problems, const double* a, double* g,
                 int n_threads);
template <class T, class I>
std::size_t pull(const Compressed<T, I>& x, std::size_t n_problems, const double* a, double* g,
                 int n_threads);

// Σ_i weights[i] x_r x_rᵀ into `second` (n_columns²) and Σ_i vectors[k * n + i] x_r into `first` (k rows of n_columns),
// r = rows[i], of a matrix by rows. Only entries that are there cost anything.
template <class T, class I>
void moments(const Compressed<T, I>& x, const std::int64_t* rows, std::size_t n, const double* weights,
             std::size_t n_vectors, const double* vectors, double* second, double* first);

// What is wrong with the structure of a compressed matrix that has n_entries numbers, or "".
// The products above trust it: call this once before them.
template <class T, class I>
std::string defect(const Compressed<T, I>& x, std::size_t n_entries);

// The kernels exist for several instruction sets; the best one is chosen at the first product.
// For tests: the names of those this machine can run, and a way to choose one of them.
const char* const* instruction_sets(std::size_t* count);
void use_instruction_set(std::size_t which);

}  // namespace rankcut
