// The energy of labellings of a graph: its maxima, and how they change with the scores and the costs.
//
//     E(Y) = Σ_{y_i=1} u_i − Σ_{edges (i,j), y_i≠y_j} c_ij,   c ≥ 0
//
// m_i⁺ is the maximum over labellings with y_i = 1, m_i⁻ that over those with y_i = 0. Components of the
// graph are independent: "by component" counts the energy of the node's own component alone.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankcut/graph/labellings.hpp"

namespace rankcut {

class CutGraph {
public:
    // Pairs (i, j) with 0 ≤ i, j < n_nodes, i ≠ j. The same pair may come again: its costs add up.
    CutGraph(std::size_t n_nodes, std::span<const std::int64_t> pairs);

    // Returns the largest energy. The labelling is the smallest that has it: 1 only where it must be.
    double label(const double* unary, const double* costs, std::uint8_t* labels, int n_threads);
    void max_marginals(const double* unary, const double* costs, double* plus, double* minus,
                       std::uint8_t* labels, bool by_component, int n_threads);

    // Of the last max_marginals. Labels are 1 where the score m⁺ − m⁻ is positive.
    const graph::Labellings& labellings() const;
    const std::vector<double>& scores() const;
    std::uint64_t visits() const { return visits_; }  // arcs looked at

    std::size_t n_nodes() const { return layout_->n_nodes(); }
    std::size_t n_edges() const { return layout_->n_edges(); }

private:
    double solve(const double* unary, const double* costs, std::uint8_t* labels, bool marginals, int n_threads);

    std::shared_ptr<const graph::Layout> layout_;
    graph::Labellings labellings_;
    std::vector<double> score_;  // by node
    std::vector<double> value_;  // of the best labelling, by component
    std::uint64_t visits_ = 0;
    bool solved_ = false;        // the max-marginals are there
};

}  // namespace rankcut
