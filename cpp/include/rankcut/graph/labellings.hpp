// The labellings behind max-marginals: for every node i the best labelling, and one with y_i forced to the
// other value, which is the best one with a set of nodes flipped. Both are linear in scores and costs:
//
//     flipping the set A, all of label y:   Σ_{v∈A} φ_v + 2 Σ_{edges inside A} c,
//     φ_v = (1 − 2y) u_v − Σ_{edges (v,w)} (c if w has v's label, else −c)
//
// so values and gradients take one number for each member and inner edge of the sets, and a pass over the graph.
// Labellings reach over the component of their node.
#pragma once

#include <memory>
#include <vector>

#include "rankcut/graph/flips.hpp"

namespace rankcut::graph {

struct Labellings {
    std::shared_ptr<const Layout> layout;
    std::vector<std::uint8_t> label;  // the best labelling
    std::vector<FlipSets> sets;       // by block
    std::vector<Index> flip;          // by node: the set of its block that flips, or none

    // Only the sets that m_i⁺ (where sides[i] is 1) or m_i⁻ (0) need.
    Labellings keep(const std::uint8_t* sides) const;
    // Energies of the best labelling, by component; by node, of the labelling with y_i = sides[i].
    void values(const double* unary, const double* costs, const std::uint8_t* sides, double* out, int n_threads) const;
    // Σ_i plus_i ∂m_i⁺ + minus_i ∂m_i⁻, by score and by cost.
    void pull(const double* plus, const double* minus, double* by_node, double* by_edge, int n_threads) const;
    // The labelling with y_i = side; zero outside the component of i.
    void labelling(std::size_t i, bool side, std::uint8_t* out) const;

    bool is_base(std::size_t i, std::uint8_t side) const { return label[i] == (side != 0); }
};

double energy(const Part& part, const double* unary, const double* costs, const std::uint8_t* label);

}  // namespace rankcut::graph
