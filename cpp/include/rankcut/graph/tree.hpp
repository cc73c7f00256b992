// Max-marginals of a component that is a tree, by messages: O(nodes).
//
// With y_k given, the subtree of j, a neighbour of k, is worth x more if y_k = 1 than if y_k = 0, where
//
//     message j→k = clamp(field of j without k, −c_jk, c_jk),   field = u_j + Σ of the messages to j,
//
// up to the constant c_jk; a node's field is its score. Forcing y_k to the other value takes with it the
// neighbours j of the same label whose field without k is less than c_jk in size, and so on: the sets of a
// subtree serve all nodes above it.
#pragma once

#include "rankcut/graph/amounts.hpp"
#include "rankcut/graph/flips.hpp"

namespace rankcut::graph {

class TreeMessages {
public:
    void solve(const Part& part, const Amounts& amounts, Answer& answer);  // scores only
    void flips(const Part& part, const Amounts& amounts, FlipSets& sets, Answer& answer);

private:
    std::vector<Amount> field_;    // of a node without its parent
    std::vector<Amount> message_;  // to its parent
    std::vector<Index> down_;      // set: what flips in a node's subtree if the node flips
};

}  // namespace rankcut::graph
