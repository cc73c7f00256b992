// Thin bindings: convert, release the GIL, call the core. One file per room of the core.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

namespace nb = nanobind;

template <class T>
using Vector = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_bags(nb::module_& m);
void bind_graph(nb::module_& m);
void bind_loss(nb::module_& m);
void bind_product(nb::module_& m);
void bind_qp(nb::module_& m);
void bind_svmlight(nb::module_& m);
