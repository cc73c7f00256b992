#include "rankcut/graph/tree.hpp"

#include <algorithm>

namespace rankcut::graph {

namespace {

// Would a neighbour of the same label, whose field without me is `cavity`, flip with me?
bool follows(Amount cavity, Amount cost, bool label) { return (label ? cavity : -cavity) < cost; }

}  // namespace

// Numbers rise from parent to child, and a node's first arc leads to its parent.
void TreeMessages::solve(const Part& part, const Amounts& amounts, Answer& answer) {
    field_ = amounts.unary;
    message_.assign(part.size, 0);
    for (Index v = part.size; --v > 0;) {
        const Index up = part.begin(v);
        const Amount c = amounts.cost[up];
        message_[v] = std::clamp(field_[v], -c, c);
        field_[part.head[up]] += message_[v];
    }
    answer.score = field_;
    for (Index v = 1; v < part.size; ++v) {
        const Index up = part.begin(v);
        const Amount c = amounts.cost[up];
        answer.score[v] += std::clamp(answer.score[part.head[up]] - message_[v], -c, c);
    }
    answer.visits += 2 * static_cast<std::uint64_t>(part.size);
}

void TreeMessages::flips(const Part& part, const Amounts& amounts, FlipSets& sets, Answer& answer) {
    down_.resize(part.size);
    answer.flip.resize(part.size);
    for (Index v = part.size; v-- > 0;) {
        const bool label = answer.score[v] > 0;
        sets.add_node(part.node[v]);
        for (Index a = v == 0 ? 0 : part.begin(v) + 1; a < part.end(v); ++a) {
            const Index child = part.head[a];
            if ((answer.score[child] > 0) != label || !follows(field_[child], amounts.cost[a], label)) continue;
            sets.add_child(down_[child]);
            sets.add_edge(part.edge[a]);
        }
        answer.visits += part.end(v) - part.begin(v);
        down_[v] = sets.close();
    }
    answer.flip[0] = down_[0];
    for (Index v = 1; v < part.size; ++v) {
        const Index up = part.begin(v), parent = part.head[up];
        const bool label = answer.score[v] > 0;
        const Amount c = amounts.cost[up];
        answer.flip[v] = down_[v];
        if ((answer.score[parent] > 0) != label || !follows(answer.score[parent] - message_[v], c, label)) continue;
        if (follows(field_[v], c, label)) {  // neither flips without the other
            answer.flip[v] = answer.flip[parent];
        } else {
            sets.add_child(down_[v]);
            sets.add_child(answer.flip[parent]);
            sets.add_edge(part.edge[up]);
            answer.flip[v] = sets.close();
        }
    }
}

}  // namespace rankcut::graph
