#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstdint>

#include "rankcut/product.hpp"
#include "rooms.hpp"

namespace {

template <class T>
using AnyMatrix = nb::ndarray<const T, nb::ndim<2>, nb::device::cpu>;
using Weights = Matrix<const double>;
using Result = Matrix<double>;

// Kernels trust their sizes: check them here, whoever calls.
std::size_t n_problems(const Weights& in, std::size_t in_columns, const Result& out,
                       std::size_t out_columns) {
    if (in.shape(1) != in_columns || out.shape(0) != in.shape(0) || out.shape(1) != out_columns)
        throw nb::value_error("the shapes of the matrix, the weights and the result do not match");
    return in.shape(0);
}

// The stride of a dimension that is at most 1 long means nothing: let it not stand in the way.
template <class T>
rankcut::Dense<T> dense(const AnyMatrix<T>& x) {
    rankcut::Dense<T> d{x.data(), x.shape(0), x.shape(1), x.stride(0), x.stride(1)};
    if (d.n_columns <= 1) d.column_stride = 1;
    if (d.n_rows <= 1 && d.column_stride != 1) d.row_stride = 1;
    if (d.row_stride != 1 && d.column_stride != 1)
        throw nb::value_error("neither the rows nor the columns of the matrix are contiguous");
    return d;
}

template <class T>
void bind_dense(nb::module_& m) {
    m.def(
        "dense_scores",
        [](AnyMatrix<T> x, Weights w, Result s, int n_threads) {
            const auto k = n_problems(w, x.shape(1), s, x.shape(0));
            rankcut::scores(dense<T>(x), k, w.data(), s.data(), n_threads);
        },
        nb::arg("x").noconvert(), nb::arg("w").noconvert(), nb::arg("s").noconvert(),
        nb::arg("n_threads"), nb::call_guard<nb::gil_scoped_release>());
    m.def(
        "dense_pull",
        [](AnyMatrix<T> x, Weights a, Result g, int n_threads) {
            const auto k = n_problems(a, x.shape(0), g, x.shape(1));
            return rankcut::pull(dense<T>(x), k, a.data(), g.data(), n_threads);
        },
        nb::arg("x").noconvert(), nb::arg("a").noconvert(), nb::arg("g").noconvert(),
        nb::arg("n_threads"), nb::call_guard<nb::gil_scoped_release>());
}

// A compressed matrix whose structure has been checked. It keeps its arrays alive.
template <class T, class I>
struct Sparse {
    Vector<const I> starts, index;
    Vector<const T> data;
    rankcut::Compressed<T, I> x;

    Sparse(Vector<const I> starts_, Vector<const I> index_, Vector<const T> data_,
           std::size_t n_rows, std::size_t n_columns, bool by_rows)
        : starts(starts_), index(index_), data(data_),
          x{starts.data(), index.data(), data.data(), n_rows, n_columns, by_rows} {
        if (starts.shape(0) != x.n_lines() + 1)
            throw nb::value_error("indptr must have one entry more than there are lines");
        if (index.shape(0) != data.shape(0))
            throw nb::value_error("indices and data must have the same length");
        nb::gil_scoped_release released;
        const std::string problem = rankcut::defect(x, data.shape(0));
        if (!problem.empty()) throw nb::value_error(problem.c_str());
    }
};

template <class T, class I>
void bind_sparse(nb::module_& m, const char* name) {
    using S = Sparse<T, I>;
    nb::class_<S>(m, name)
        .def(nb::init<Vector<const I>, Vector<const I>, Vector<const T>, std::size_t, std::size_t,
                      bool>(),
             nb::arg("indptr").noconvert(), nb::arg("indices").noconvert(),
             nb::arg("data").noconvert(), nb::arg("n_rows"), nb::arg("n_columns"),
             nb::arg("by_rows"))
        .def(
            "scores",
            [](const S& self, Weights w, Result s, int n_threads) {
                const auto k = n_problems(w, self.x.n_columns, s, self.x.n_rows);
                rankcut::scores(self.x, k, w.data(), s.data(), n_threads);
            },
            nb::arg("w").noconvert(), nb::arg("s").noconvert(), nb::arg("n_threads"),
            nb::call_guard<nb::gil_scoped_release>())
        .def(
            "pull",
            [](const S& self, Weights a, Result g, int n_threads) {
                const auto k = n_problems(a, self.x.n_rows, g, self.x.n_columns);
                return rankcut::pull(self.x, k, a.data(), g.data(), n_threads);
            },
            nb::arg("a").noconvert(), nb::arg("g").noconvert(), nb::arg("n_threads"),
            nb::call_guard<nb::gil_scoped_release>())
        .def(
            "moments",
            [](const S& self, Vector<const std::int64_t> rows, Vector<const double> weights,
               Matrix<const double> vectors, Result second, Result first) {
                const std::size_t n = rows.shape(0), d = self.x.n_columns;
                if (!self.x.by_rows) throw nb::value_error("moments needs a matrix by rows");
                if (weights.shape(0) != n || vectors.shape(1) != n || second.shape(0) != d ||
                    second.shape(1) != d || first.shape(0) != vectors.shape(0) || first.shape(1) != d)
                    throw nb::value_error("the shapes of the rows, the weights and the results do not match");
                for (std::size_t i = 0; i < n; ++i)
                    if (rows(i) < 0 || static_cast<std::size_t>(rows(i)) >= self.x.n_rows)
                        throw nb::index_error("rows must be from 0 to n_rows - 1");
                nb::gil_scoped_release release;
                rankcut::moments(self.x, rows.data(), n, weights.data(), vectors.shape(0), vectors.data(),
                                 second.data(), first.data());
            },
            nb::arg("rows"), nb::arg("weights").noconvert(), nb::arg("vectors").noconvert(),
            nb::arg("second").noconvert(), nb::arg("first").noconvert());
}

}  // namespace

void bind_product(nb::module_& m) {
    bind_dense<float>(m);
    bind_dense<double>(m);
    bind_sparse<float, std::int32_t>(m, "SparseF32I32");
    bind_sparse<float, std::int64_t>(m, "SparseF32I64");
    bind_sparse<double, std::int32_t>(m, "SparseF64I32");
    bind_sparse<double, std::int64_t>(m, "SparseF64I64");
    m.def("instruction_sets", [] {
        std::size_t count = 0;
        const char* const* names = rankcut::instruction_sets(&count);
        return std::vector<std::string>(names, names + count);
    }, "What the products can run on here, best first.");
    m.def("use_instruction_set", &rankcut::use_instruction_set, nb::arg("which"),
          "For tests: run the products on one of instruction_sets().");
}
