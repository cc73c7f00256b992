// Bags of instances, bound for rankcut.models.
#include "rankcut/bags.hpp"

#include <memory>

#include "rooms.hpp"

using namespace rankcut;

namespace {

using Sizes = Vector<const std::int64_t>;
using In = Vector<const double>;
using Out = Vector<double>;
using Marks = Vector<const std::uint8_t>;

// The bags, checked against the number of instances; no marks at all mean that none is left out.
Bags checked(const Sizes& begin, const Sizes& end, const Marks& left_out, std::size_t instances) {
    if (begin.size() != end.size()) throw nb::value_error("one begin and one end for each bag");
    for (std::size_t i = 0; i < begin.size(); ++i)
        if (begin(i) < 0 || end(i) <= begin(i) || static_cast<std::size_t>(end(i)) > instances)
            throw nb::value_error("every bag has at least one instance, and all lie among the scores");
    if (left_out.size() != 0 && left_out.size() != instances)
        throw nb::value_error("one mark for each instance, or none at all");
    return {begin.data(), end.data(), begin.size(), left_out.size() == 0 ? nullptr : left_out.data()};
}

}  // namespace

void bind_bags(nb::module_& m) {
    m.def(
        "best_instances",
        [](Sizes begin, Sizes end, Marks left_out, In z, Out score, Vector<std::int64_t> instance, int n_threads) {
            const Bags bags = checked(begin, end, left_out, z.size());
            if (score.size() != bags.size || instance.size() != bags.size)
                throw nb::value_error("one score and one instance for each bag");
            nb::gil_scoped_release release;
            best_instances(bags, z.data(), score.data(), instance.data(), n_threads);
        },
        nb::arg("begin"), nb::arg("end"), nb::arg("left_out"), nb::arg("z"), nb::arg("score").noconvert(), nb::arg("instance").noconvert(),
        nb::arg("n_threads") = 1, "The largest score of each bag, and the first instance that has it.");

    nb::class_<BagLine>(m, "BagLine", "The bags' scores along a line, from the few instances that can be best on it.")
        .def(
            "__init__",
            [](BagLine* self, Sizes begin, Sizes end, Marks left_out, In z, In direction, double reach, int n_threads) {
                if (direction.size() != z.size()) throw nb::value_error("one direction for each score");
                const Bags bags = checked(begin, end, left_out, z.size());
                nb::gil_scoped_release release;
                new (self) BagLine(bags, z.data(), direction.data(), reach, n_threads);
            },
            nb::arg("begin"), nb::arg("end"), nb::arg("left_out"), nb::arg("z"), nb::arg("direction"),
            nb::arg("reach"), nb::arg("n_threads") = 1)
        .def_prop_ro("size", &BagLine::size)
        .def_prop_ro("reach", &BagLine::reach)
        .def_prop_ro("kept", &BagLine::kept, "How many instances can be best.")
        .def(
            "at",
            [](const BagLine& self, double t, Out score, Out slope, int n_threads) {
                if (score.size() != self.size() || slope.size() != self.size())
                    throw nb::value_error("one score and one slope for each bag");
                nb::gil_scoped_release release;
                self.at(t, score.data(), slope.data(), n_threads);
            },
            nb::arg("t"), nb::arg("score").noconvert(), nb::arg("slope").noconvert(), nb::arg("n_threads") = 1,
            "Writes each bag's score at t, and how fast it changes.");
}
