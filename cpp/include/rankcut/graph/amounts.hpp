// The numbers of one component, on a grid, where sums are exact.
//
// A component's unary scores and costs are rounded once, to whole multiples of a power of two, and all
// that follows is integer arithmetic: flows, cuts and max-marginals are exact for the rounded numbers, ties
// are ties, and the order of the work cannot change a result. The grid is as fine as 63 bits allow:
// unit ≤ 2^-58 (Σ|u| + 2 max c), so the energy of a labelling is off by at most (nodes + edges) · unit / 2,
// and not at all where the inputs lie on the grid. (Energies of tiny components are added up as a whole: there
// the grid leaves room for all costs.)
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rankcut/graph/layout.hpp"

namespace rankcut::graph {

using Amount = std::int64_t;

constexpr Index tiny = 8;  // nodes; up to here looking at all labellings is faster than flows

struct Amounts {
    double unit = 1.0;
    std::vector<Amount> unary;  // by node
    std::vector<Amount> cost;   // by arc, the same for sisters

    void round(const Part& part, const double* all_unary, const double* all_costs);
};

// What a component's solvers find: the score m⁺ − m⁻ of every node, and the set that flips when its label
// is forced to the other value. The best labelling is 1 where the score is positive.
struct Answer {
    std::vector<Amount> score;
    std::vector<Index> flip;  // a set of FlipSets, by node
    std::uint64_t visits = 0; // arcs looked at
};

}  // namespace rankcut::graph
