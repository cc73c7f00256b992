// Max-marginals of a tiny component, by all its labellings.
//
// Labellings follow each other by one flip (Gray code), so each costs one addition for the energy and one
// for each node. Of several labellings with the largest energy those are taken that flip the fewest nodes:
// best labellings are closed under union and intersection.
#pragma once

#include <array>

#include "rankcut/graph/amounts.hpp"
#include "rankcut/graph/flips.hpp"

namespace rankcut::graph {

class Enumeration {
public:
    void solve(const Part& part, const Amounts& amounts, Answer& answer);
    void flips(const Part& part, FlipSets& sets, Answer& answer);  // after solve

private:
    using Mask = std::uint32_t;
    using Row = std::array<Amount, tiny>;

    void prepare(const Part& part, const Amounts& amounts);
    void look(Index n, Mask mask, Amount energy);
    Index record(const Part& part, Mask mask, FlipSets& sets) const;

    Row gain_;                     // of flipping a node from 0 to 1, the others as they are
    std::array<Row, tiny> cost_;   // twice the cost of a pair
    Row plus_, minus_;             // the largest energies with label 1 and 0,
    std::array<Mask, tiny> ones_with_, ones_without_;  // the fewest ones of the first, the most of the second
};

}  // namespace rankcut::graph
