#include "rankcut/graph/forest.hpp"

#include <algorithm>

namespace rankcut::graph {

void Forest::solve(const Part& part, const Amounts& amounts, Answer& answer) {
    part_ = part;
    capacity_ = amounts.cost;
    node_.assign(part.size, Node{});
    active_.clear();
    first_active_ = 0;
    time_ = 0;
    visits_ = 0;
    for (Index v = 0; v < part.size; ++v) {
        node_[v].excess = amounts.unary[v];
        if (amounts.unary[v] == 0) continue;
        node_[v].side = amounts.unary[v] > 0 ? Side::source : Side::sink;
        node_[v].parent = root;
        activate(v);
    }
    run();
    answer.score.resize(part.size);
    for (Index v = 0; v < part.size; ++v) answer.score[v] = static_cast<Amount>(node_[v].side);
    answer.visits += visits_;
}

void Forest::activate(Index v) {
    if (node_[v].queued) return;
    node_[v].queued = true;
    active_.push_back(v);
}

void Forest::run() {
    while (first_active_ < active_.size()) {
        const Index v = active_[first_active_++];
        node_[v].queued = false;
        if (node_[v].side != Side::none) grow(v);
    }
    active_.clear();
    first_active_ = 0;
}

// Free neighbours join the tree; where it meets a tree of the other side, flow goes through.
void Forest::grow(Index v) {
    const Side side = node_[v].side;
    for (Index a = part_.begin(v); a < part_.end(v);) {
        ++visits_;
        const Index w = part_.head[a];
        if (node_[w].side == side || outwards(side, a) == 0) {
            ++a;
        } else if (node_[w].side == Side::none) {
            node_[w].side = side;
            node_[w].parent = part_.sister[a];
            node_[w].depth = node_[v].depth + 1;
            node_[w].seen = node_[v].seen;
            activate(w);
            ++a;
        } else {  // and look at this arc again
            augment(side == Side::source ? a : part_.sister[a]);
            adopt();
            if (node_[v].side != side) return;
        }
    }
}

// The most that can flow between v and the root of its tree.
Amount Forest::room(Index v, Side side) {
    Amount least = endless;
    for (; node_[v].parent != root; v = part_.head[node_[v].parent], ++visits_)
        least = std::min(least, inwards(side, node_[v].parent));
    return std::min(least, side == Side::source ? node_[v].excess : -node_[v].excess);
}

void Forest::shift(Index v, Side side, Amount flow) {
    const Amount sign = side == Side::source ? 1 : -1;
    while (node_[v].parent != root) {
        ++visits_;
        const Index a = node_[v].parent, back = part_.sister[a];
        capacity_[a] += sign * flow;
        capacity_[back] -= sign * flow;
        if (inwards(side, a) == 0) release(v);
        v = part_.head[a];
    }
    node_[v].excess -= sign * flow;
    if (node_[v].excess == 0) release(v);
}

void Forest::release(Index v) {
    node_[v].parent = orphan;
    orphans_.push_back(v);
}

void Forest::augment(Index bridge) {
    const Index from = part_.head[part_.sister[bridge]], to = part_.head[bridge];
    const Amount flow = std::min({capacity_[bridge], room(from, Side::source), room(to, Side::sink)});
    capacity_[bridge] -= flow;
    capacity_[part_.sister[bridge]] += flow;
    shift(from, Side::source, flow);
    shift(to, Side::sink, flow);
}

void Forest::adopt() {
    ++time_;
    for (std::size_t k = 0; k < orphans_.size(); ++k)
        if (node_[orphans_[k]].parent == orphan) adopt(orphans_[k]);
    orphans_.clear();
}

// How far v is from the root of its tree; −1 if an orphan is on the way. Later questions stop at what was seen.
Index Forest::depth_of(Index v) {
    Index steps = 0, w = v;
    for (; node_[w].seen != time_; w = part_.head[node_[w].parent], ++steps) {
        ++visits_;
        if (node_[w].parent == orphan) return -1;
        if (node_[w].parent == root) {
            node_[w].seen = time_;
            node_[w].depth = 0;
            break;
        }
    }
    const Index depth = node_[w].depth + steps;
    for (Index d = depth; v != w; v = part_.head[node_[v].parent], --d) {
        node_[v].seen = time_;
        node_[v].depth = d;
    }
    return depth;
}

// A new parent near a root, or else the node is free, and its children are orphans.
void Forest::adopt(Index v) {
    const Side side = node_[v].side;
    Index best = none, least = part_.size;
    for (Index a = part_.begin(v); a < part_.end(v) && least > 0; ++a) {
        ++visits_;
        const Index w = part_.head[a];
        if (node_[w].side != side || inwards(side, a) == 0) continue;
        const Index depth = depth_of(w);
        if (depth >= 0 && depth < least) best = a, least = depth;
    }
    if (best != none) {
        node_[v].parent = best;
        node_[v].seen = time_;
        node_[v].depth = least + 1;
        return;
    }
    node_[v].side = Side::none;
    node_[v].parent = none;
    for (Index a = part_.begin(v); a < part_.end(v); ++a) {
        ++visits_;
        const Index w = part_.head[a];
        if (node_[w].side != side) continue;
        if (inwards(side, a) > 0) activate(w);
        if (node_[w].parent == part_.sister[a]) release(w);
    }
}

}  // namespace rankcut::graph
