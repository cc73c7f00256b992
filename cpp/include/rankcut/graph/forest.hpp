// The best labelling of any component: a largest flow, by search trees that are kept from path to path
// (Boykov and Kolmogorov, 2004; written from the paper).
//
// Every node has an excess: what the source could still bring there (positive) or the sink still take
// (negative); every arc a residual capacity. Down the trees of the source flow can come from positive excess,
// up those of the sink it can go to negative. Where the two kinds touch, flow goes through; nodes whose arc
// to the parent it fills, or whose root it empties, look for a new parent.
#pragma once

#include "rankcut/graph/amounts.hpp"

namespace rankcut::graph {

class Forest {
public:
    // The signs of the scores: 1 where flow could still come from the source, −1 where it could still go to
    // the sink, 0 where neither.
    void solve(const Part& part, const Amounts& amounts, Answer& answer);
    Amount excess(Index v) const { return node_[v].excess; }
    Amount capacity(Index a) const { return capacity_[a]; }

private:
    enum class Side : std::int8_t { sink = -1, none = 0, source = 1 };
    static constexpr Index root = -1, orphan = -2, none = -3;  // instead of an arc to the parent
    static constexpr Amount endless = Amount{1} << 61;

    struct Node {
        Amount excess = 0;
        Index parent = none;
        Index depth = 0;
        std::uint32_t seen = 0;  // depth and the way to a root were right at this time
        Side side = Side::none;
        bool queued = false;
    };

    // What could flow over arc a of a node of that side's tree towards the leaves, and towards the root.
    Amount outwards(Side side, Index a) const { return capacity_[side == Side::source ? a : part_.sister[a]]; }
    Amount inwards(Side side, Index a) const { return capacity_[side == Side::source ? part_.sister[a] : a]; }

    void activate(Index v);
    void run();
    void grow(Index v);
    void augment(Index bridge);
    Amount room(Index v, Side side);
    void shift(Index v, Side side, Amount flow);
    void release(Index v);
    void adopt();
    void adopt(Index v);
    Index depth_of(Index v);

    Part part_;
    std::vector<Node> node_;
    std::vector<Amount> capacity_;
    std::vector<Index> active_, orphans_;
    std::size_t first_active_ = 0;
    std::uint32_t time_ = 0;
    std::uint64_t visits_ = 0;
};

}  // namespace rankcut::graph
