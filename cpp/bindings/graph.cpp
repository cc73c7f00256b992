#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rankcut/graph/cut_graph.hpp"
#include "rooms.hpp"

using rankcut::CutGraph;
using rankcut::graph::Labellings;

namespace {

using In = Vector<const double>;
using Out = Vector<double>;
using Labels = Vector<std::uint8_t>;

template <class... Arrays>
void check(std::size_t expected, const char* what, const Arrays&... arrays) {
    if (((arrays.size() != expected) || ...)) throw nb::value_error(what);
}
constexpr const char* by_node = "one entry is needed for each node";
constexpr const char* by_edge = "one entry is needed for each edge";

// One labelling for each node, kept as it is while the graph is solved anew.
struct Frozen {
    Labellings kept;
    std::vector<std::uint8_t> sides;
    std::size_t n_edges;

    std::size_t size() const { return sides.size(); }
};

void bind_frozen(nb::module_& m) {
    nb::class_<Frozen>(m, "FrozenLabellings", "For each node i a labelling of its component, fixed: linear in scores and costs.")
        .def("__len__", &Frozen::size)
        .def("values",
             [](const Frozen& self, In unary, In costs, Out out, int n_threads) {
                 check(self.size(), by_node, unary, out);
                 check(self.n_edges, by_edge, costs);
                 nb::gil_scoped_release released;
                 self.kept.values(unary.data(), costs.data(), self.sides.data(), out.data(), n_threads);
             },
             nb::arg("unary").noconvert(), nb::arg("costs").noconvert(), nb::arg("out").noconvert(), nb::arg("n_threads") = 1,
             "Writes the energy of each node's labelling.")
        .def("pull",
             [](const Frozen& self, In weights, Out node_out, Out edge_out, int n_threads) {
                 check(self.size(), by_node, weights, node_out);
                 check(self.n_edges, by_edge, edge_out);
                 nb::gil_scoped_release released;
                 std::vector<double> plus(self.size()), minus(self.size());
                 for (std::size_t i = 0; i < self.size(); ++i) (self.sides[i] ? plus : minus)[i] = weights.data()[i];
                 self.kept.pull(plus.data(), minus.data(), node_out.data(), edge_out.data(), n_threads);
             },
             nb::arg("weights").noconvert(), nb::arg("node_out").noconvert(), nb::arg("edge_out").noconvert(),
             nb::arg("n_threads") = 1, "Writes the weighted sum of the gradients, by score and by cost.")
        .def("labelling",
             [](const Frozen& self, std::size_t node, Labels out) {
                 check(self.size(), by_node, out);
                 if (node >= self.size()) throw nb::index_error("there is no such node");
                 self.kept.labelling(node, self.sides[node] != 0, out.data());
             },
             nb::arg("node"), nb::arg("out").noconvert(), "Writes the labelling of a node, zero outside its component.");
}

}  // namespace

void bind_graph(nb::module_& m) {
    bind_frozen(m);
    nb::class_<CutGraph>(m, "CutGraph", "Labellings of a graph with Σ_{y_i=1} u_i − Σ_{y_i≠y_j} c_ij as large as can be.")
        .def("__init__",
             [](CutGraph* self, std::size_t n_nodes, Matrix<const std::int64_t> edges) {
                 if (edges.shape(1) != 2) throw nb::value_error("edges come as rows of two");
                 nb::gil_scoped_release released;
                 new (self) CutGraph(n_nodes, {edges.data(), edges.size()});
             },
             nb::arg("n_nodes"), nb::arg("edges").noconvert())
        .def("label",
             [](CutGraph& self, In unary, In costs, Labels labels, int n_threads) {
                 check(self.n_nodes(), by_node, unary, labels);
                 check(self.n_edges(), by_edge, costs);
                 nb::gil_scoped_release released;
                 return self.label(unary.data(), costs.data(), labels.data(), n_threads);
             },
             nb::arg("unary").noconvert(), nb::arg("costs").noconvert(), nb::arg("labels").noconvert(),
             nb::arg("n_threads") = 1, "Writes the best labelling (of several the smallest) and returns its energy.")
        .def("max_marginals",
             [](CutGraph& self, In unary, In costs, Out m_plus, Out m_minus, Labels labels, int n_threads, bool per_component) {
                 check(self.n_nodes(), by_node, unary, m_plus, m_minus, labels);
                 check(self.n_edges(), by_edge, costs);
                 nb::gil_scoped_release released;
                 self.max_marginals(unary.data(), costs.data(), m_plus.data(), m_minus.data(), labels.data(),
                                    per_component, n_threads);
             },
             nb::arg("unary").noconvert(), nb::arg("costs").noconvert(), nb::arg("m_plus").noconvert(),
             nb::arg("m_minus").noconvert(), nb::arg("labels").noconvert(), nb::arg("n_threads") = 1,
             nb::arg("per_component") = false,
             "Writes the largest energies with y_i = 1 and with y_i = 0, for each node, and the best labelling.")
        .def("scores",
             [](const CutGraph& self, Out out) {
                 check(self.n_nodes(), by_node, out);
                 std::ranges::copy(self.scores(), out.data());
             },
             nb::arg("out").noconvert(), "Writes m_plus − m_minus of the last max_marginals, without their rounding.")
        .def("pull",
             [](const CutGraph& self, In weight_plus, In weight_minus, Out node_out, Out edge_out, int n_threads) {
                 check(self.n_nodes(), by_node, weight_plus, weight_minus, node_out);
                 check(self.n_edges(), by_edge, edge_out);
                 nb::gil_scoped_release released;
                 self.labellings().pull(weight_plus.data(), weight_minus.data(), node_out.data(), edge_out.data(), n_threads);
             },
             nb::arg("weight_plus").noconvert(), nb::arg("weight_minus").noconvert(), nb::arg("node_out").noconvert(),
             nb::arg("edge_out").noconvert(), nb::arg("n_threads") = 1,
             "Writes the weighted sum of the last max-marginals' gradients, by score and by cost, labellings by component.")
        .def("labelling",
             [](const CutGraph& self, std::size_t node, bool side, Labels out) {
                 check(self.n_nodes(), by_node, out);
                 if (node >= self.n_nodes()) throw nb::index_error("there is no such node");
                 self.labellings().labelling(node, side, out.data());
             },
             nb::arg("node"), nb::arg("side"), nb::arg("out").noconvert(),
             "Writes the labelling behind m_plus (side True) or m_minus of a node, zero outside its component.")
        .def("freeze",
             [](const CutGraph& self, Vector<const std::uint8_t> sides) {
                 check(self.n_nodes(), by_node, sides);
                 nb::gil_scoped_release released;
                 return std::make_unique<Frozen>(Frozen{self.labellings().keep(sides.data()),
                                                        {sides.data(), sides.data() + sides.size()}, self.n_edges()});
             },
             nb::arg("sides").noconvert(), "Keeps, for each node, the labelling behind m_plus (side 1) or m_minus (0).")
        .def_prop_ro("n_nodes", &CutGraph::n_nodes)
        .def_prop_ro("n_edges", &CutGraph::n_edges)
        .def_prop_ro("visits", &CutGraph::visits, "How many arcs the last call looked at.");
}
