#include "rankcut/qp.hpp"

#include <algorithm>
#include <memory>

#include "rooms.hpp"

using rankcut::MasterQP;

void bind_qp(nb::module_& m) {
    auto qp = nb::class_<MasterQP>(m, "MasterQP",
        "max δᵀμ − ½ μᵀGμ over μ ≥ 0 with Σ_soft μ = C, G growing by one item at a time.");

    nb::enum_<MasterQP::Status>(qp, "Status", "How solve() ended.")
        .value("optimal", MasterQP::Status::optimal, "The residual is at most tol.")
        .value("unbounded", MasterQP::Status::unbounded, "No point satisfies the hard cuts.")
        .value("max_pivots", MasterQP::Status::max_pivots, "Stopped early; the multipliers are feasible.")
        .value("precision", MasterQP::Status::precision, "Stopped at the floor of rounding, above tol.");

    qp.def(nb::init<double>(), nb::arg("capacity"))
        .def("add",
             [](MasterQP& self, Vector<const double> row, double delta, bool hard) {
                 self.add({row.data(), row.size()}, delta, hard);
             },
             nb::arg("gram_row"), nb::arg("delta"), nb::arg("hard") = false,
             "Adds an item: its products with the items so far, then its own squared norm.")
        .def("remove",
             [](MasterQP& self, Vector<const std::int64_t> items) {
                 // A negative number becomes one that is too large, which the core refuses.
                 self.remove(std::vector<std::size_t>(items.data(), items.data() + items.size()));
             },
             nb::arg("items"), "Removes items, whose multipliers must be zero; the others keep their order.")
        .def("set_capacity", &MasterQP::set_capacity, nb::arg("capacity"),
             "Changes C; the multipliers of the soft items are scaled with it.")
        .def("solve", &MasterQP::solve, nb::arg("tol"), nb::arg("max_pivots") = 10'000,
             nb::call_guard<nb::gil_scoped_release>(),
             "Goes on from the present multipliers until the residual is at most tol.")
        .def("multipliers",
             [](const MasterQP& self) {
                 auto copy = std::make_unique<double[]>(self.size());
                 std::ranges::copy(self.multipliers(), copy.get());
                 nb::capsule owner(copy.get(), [](void* p) noexcept { delete[] static_cast<double*>(p); });
                 return nb::ndarray<nb::numpy, double, nb::ndim<1>>(copy.release(), {self.size()}, owner);
             },
             "A copy of μ.")
        .def("__len__", &MasterQP::size)
        .def_prop_ro("size", &MasterQP::size)
        .def_prop_ro("capacity", &MasterQP::capacity)
        .def_prop_ro("dual_value", &MasterQP::dual_value)
        .def_prop_ro("residual", &MasterQP::residual, "What is left of the optimality conditions, in units of the dual.")
        .def_prop_ro("rounding", &MasterQP::rounding, "What rounding may hide in the residual.")
        .def_prop_ro("pivots", &MasterQP::pivots, "Pivots of the last solve.");
}
