// Risks in score space, bound for rankcut.losses.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>

#include <memory>
#include <string>
#include <tuple>

#include "rankcut/loss/hinge.hpp"
#include "rankcut/loss/preference.hpp"
#include "rankcut/loss/precision.hpp"
#include "rankcut/loss/published.hpp"
#include "rankcut/loss/risk.hpp"
#include "rankcut/loss/rows.hpp"
#include "rankcut/loss/staircase.hpp"
#include "rooms.hpp"

using namespace rankcut;

namespace {

using Sizes = Vector<const std::int64_t>;
using In = Vector<const double>;
using Out = Vector<double>;

std::vector<std::size_t> sizes(const Sizes& values) {
    return {values.data(), values.data() + values.size()};
}

std::unique_ptr<Risk> list_risk(std::unique_ptr<ListLoss> loss, const Sizes& offsets, const Sizes& positives) {
    return std::make_unique<ListRisk>(std::move(loss), sizes(offsets), sizes(positives));
}

template <class Gain>
std::unique_ptr<Risk> staircase(const Sizes& offsets, const Sizes& positives) {
    return list_risk(std::make_unique<StaircaseLoss<Gain>>(), offsets, positives);
}

std::unique_ptr<Risk> ndcg(const Sizes& offsets, const Sizes& positives) {
    std::size_t longest = 0;
    for (std::size_t l = 0; l + 1 < offsets.size(); ++l)
        longest = std::max(longest, static_cast<std::size_t>(offsets(l + 1) - offsets(l)));
    return list_risk(std::make_unique<StaircaseLoss<NdcgGain>>(longest), offsets, positives);
}

void check_size(const Risk& risk, std::size_t size) {
    if (size != risk.size()) throw nb::value_error("scores must have one entry per sample of the risk");
}

// The order's entries are trusted: it comes from `partition`, or from checked lists.
template <class I>
void bind_rows(nb::module_& m) {
    using Rows = Vector<const I>;
    m.def(
        "partition",
        [](Vector<const bool> relevant, Vector<I> order) {
            if (order.size() != relevant.size()) throw nb::value_error("order must have one entry per row");
            nb::gil_scoped_release release;
            return partition(relevant.data(), relevant.size(), order.data());
        },
        nb::arg("relevant"), nb::arg("order").noconvert(),
        "Writes the relevant rows, then the others; returns how many are relevant.");
    m.def(
        "gather",
        [](In values, Rows order, Out out, int n_threads) {
            if (out.size() != order.size()) throw nb::value_error("out must have one entry per entry of order");
            nb::gil_scoped_release release;
            gather(values.data(), order.data(), order.size(), out.data(), n_threads);
        },
        nb::arg("values"), nb::arg("order").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
        "out[i] = values[order[i]]");
    m.def(
        "scatter",
        [](In values, Rows order, Out out, int n_threads) {
            if (values.size() != order.size()) throw nb::value_error("values must have one entry per entry of order");
            nb::gil_scoped_release release;
            scatter(values.data(), order.data(), order.size(), out.data(), n_threads);
        },
        nb::arg("values"), nb::arg("order").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
        "out[order[i]] = values[i]");
}

}  // namespace

void bind_loss(nb::module_& m) {
    m.def(
        "dot",
        [](In a, In b) {
            if (a.size() != b.size()) throw nb::value_error("a and b must have the same length");
            nb::gil_scoped_release release;
            return dot(a.data(), b.data(), a.size());
        },
        nb::arg("a"), nb::arg("b"), "Σ a_i b_i, summed in the same order on every machine.");
    bind_rows<std::int32_t>(m);
    bind_rows<std::int64_t>(m);
    nb::class_<Risk>(m, "Risk")
        .def_prop_ro("size", &Risk::size)
        .def_prop_ro("shift", &Risk::shift)
        .def(
            "evaluate",
            [](Risk& risk, In z, Out alpha, int n_threads) {
                check_size(risk, z.size());
                check_size(risk, alpha.size());
                nb::gil_scoped_release release;
                return risk.evaluate(z.data(), alpha.data(), n_threads);
            },
            nb::arg("z"), nb::arg("alpha").noconvert(), nb::arg("n_threads") = 1,
            "Writes the weights of the most violated ranking to alpha and returns its loss.")
        .def(
            "line",
            [](Risk& risk, In z, In direction, double t, int n_threads) {
                check_size(risk, z.size());
                check_size(risk, direction.size());
                nb::gil_scoped_release release;
                const LinePoint p = risk.line(z.data(), direction.data(), t, n_threads);
                return std::make_tuple(p.value, p.slope);
            },
            nb::arg("z"), nb::arg("direction"), nb::arg("t"), nb::arg("n_threads") = 1,
            "Value and slope of the risk at z + t * direction. The weights there are kept until the next call.")
        .def(
            "last",
            [](const Risk& risk, Out alpha) {
                check_size(risk, alpha.size());
                nb::gil_scoped_release release;
                return risk.last(alpha.data());
            },
            nb::arg("alpha").noconvert(), "What `evaluate` would give at the point that `line` was last asked for.")
        .def(
            "turn",
            [](const Risk& risk, In direction, int n_threads) {
                check_size(risk, direction.size());
                nb::gil_scoped_release release;
                const LinePoint p = risk.turn(direction.data(), n_threads);
                return std::make_tuple(p.value, p.slope);
            },
            nb::arg("direction"), nb::arg("n_threads") = 1,
            "Value and slope at the beginning of a line from the point that `line` was last asked for.")
        .def(
            "curvature",
            [](Risk& risk, In z, In alpha, Out weight, int n_threads) {
                check_size(risk, z.size());
                check_size(risk, alpha.size());
                check_size(risk, weight.size());
                nb::gil_scoped_release release;
                risk.curvature(z.data(), alpha.data(), weight.data(), n_threads);
            },
            nb::arg("z"), nb::arg("alpha"), nb::arg("weight").noconvert(), nb::arg("n_threads") = 1,
            "Writes an estimate of the diagonal of the risk's Hessian in score space.");

    m.def(
        "ap_interleaving",
        [](In positive, In negative, Vector<std::int64_t> ranks) {
            if (ranks.size() != negative.size() || positive.size() == 0)
                throw nb::value_error("one rank per negative, and at least one positive");
            nb::gil_scoped_release release;
            const List list{positive.data(), positive.size(), negative.data(), negative.size()};
            Scratch scratch;
            Staircase<ApGain>(list, ApGain(list.P, list.N), scratch).solve();
            staircase_ranks(list, scratch, ranks.data());
        },
        nb::arg("positive"), nb::arg("negative"), nb::arg("ranks").noconvert(),
        "How many positives the most violated ranking of AP places above each negative.");

    m.def("ap_risk", &staircase<ApGain>, nb::arg("offsets"), nb::arg("positives"));
    m.def("auc_risk", &staircase<AucGain>, nb::arg("offsets"), nb::arg("positives"));
    m.def("mrr_risk", &staircase<MrrGain>, nb::arg("offsets"), nb::arg("positives"));
    m.def("ndcg_risk", &ndcg, nb::arg("offsets"), nb::arg("positives"));
    m.def(
        "published_ap_risk",
        [](const std::string& algorithm, const Sizes& offsets, const Sizes& positives) {
            const ApAlgorithm which = algorithm == "greedy"   ? ApAlgorithm::greedy
                                      : algorithm == "search" ? ApAlgorithm::search
                                                              : ApAlgorithm::select;
            return list_risk(std::make_unique<PublishedAp>(which), offsets, positives);
        },
        nb::arg("algorithm"), nb::arg("offsets"), nb::arg("positives"));
    m.def(
        "precision_risk",
        [](std::size_t k, const Sizes& offsets, const Sizes& positives) {
            return list_risk(std::make_unique<PrecisionLoss>(k), offsets, positives);
        },
        nb::arg("k"), nb::arg("offsets"), nb::arg("positives"));
    m.def(
        "hinge_risk",
        [](double positive_weight, const Sizes& offsets, const Sizes& positives) {
            return list_risk(std::make_unique<HingeLoss>(positive_weight), offsets, positives);
        },
        nb::arg("positive_weight"), nb::arg("offsets"), nb::arg("positives"));
    m.def(
        "shifted_hinge_risk",
        [](double positive_weight, const Sizes& offsets, const Sizes& positives) -> std::unique_ptr<Risk> {
            return std::make_unique<ShiftedHingeRisk>(sizes(offsets), sizes(positives), positive_weight);
        },
        nb::arg("positive_weight"), nb::arg("offsets"), nb::arg("positives"));
    m.def(
        "preference_risk",
        [](const std::string& rescaling, const Sizes& offsets, In y, const Sizes& above, double share) -> std::unique_ptr<Risk> {
            if (offsets.size() == 0 || above.size() + 1 != offsets.size()) throw nb::value_error("one entry of above per list");
            if (y.size() != static_cast<std::size_t>(offsets(offsets.size() - 1))) throw nb::value_error("one y per sample");
            const auto how = rescaling == "slack" ? Rescaling::slack : Rescaling::margin;
            return std::make_unique<PreferenceRisk>(sizes(offsets), std::vector<double>(y.data(), y.data() + y.size()),
                                                    sizes(above), how, share);
        },
        nb::arg("rescaling"), nb::arg("offsets"), nb::arg("y"), nb::arg("above"), nb::arg("share"));
}
