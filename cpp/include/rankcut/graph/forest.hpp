// Max-marginals of any component, by flows that never start afresh.
//
// Every node has an excess: what flow the source could still bring there (positive) or the sink still take
// (negative); every arc a residual capacity. Moving flow along arcs from excess to excess changes these
// numbers, but not the function that they stand for: with A the nodes on the sink's side,
//
//     g(A) = Σ_{v∈A} excess_v + Σ_{arcs into A} capacity   is, up to a constant, minus the energy,
//
// so what has been moved need never be put back. solve() moves what it can from positive excess to negative:
// then the best labelling is 1 where flow could still come from the source. The score of a node of label 1
// is the least g(A) over the sets A with the node, so it is the excess it has once all that can reach it has
// been moved there; that of a node of label 0, the same with all signs turned.
//
// Both use search trees (Boykov and Kolmogorov, 2004) that are kept from flow to flow: source trees, down
// which flow can come from positive excess, and sink trees, up which it can go to negative. A node asking for
// its score becomes the root of the other kind of tree. Its neighbours' paths to their roots are known, so
// the question is answered by repairing trees, and when the flow is over its tree is the set that flips.
#pragma once

#include "rankcut/graph/amounts.hpp"
#include "rankcut/graph/flips.hpp"

namespace rankcut::graph {

class Forest {
public:
    void solve(const Part& part, const Amounts& amounts, Answer& answer);  // the sign of the scores only
    void flips(const Part& part, FlipSets& sets, Answer& answer);          // after solve: scores and sets

private:
    enum class Side : std::uint8_t { none, source, sink };
    static constexpr Index root = -1, orphan = -2, none = -3;  // instead of an arc to the parent
    static constexpr Amount endless = Amount{1} << 61;

    struct Node {
        Amount excess = 0;
        Index parent = none;
        Index depth = 0;
        std::uint32_t seen = 0;  // depth and the way to a root were right at this time
        Index set = FlipSets::none;  // the last that it was in
        Side side = Side::none;
        bool queued = false;
    };

    static Side other(Side side) { return side == Side::source ? Side::sink : Side::source; }
    // What could flow over arc a of a node of that side's tree towards the leaves, and towards the root.
    Amount outwards(Side side, Index a) const { return capacity_[side == Side::source ? a : part_.sister[a]]; }
    Amount inwards(Side side, Index a) const { return capacity_[side == Side::source ? part_.sister[a] : a]; }

    void activate(Index v);
    void run();
    void grow(Index v);
    void augment(Index bridge);
    Amount room(Index v, Side side);
    void shift(Index v, Side side, Amount flow);
    void adopt();
    void adopt(Index v);
    Index depth_of(Index v);
    void release(Index v);
    void ask(Index v, FlipSets& sets, Answer& answer);
    void uproot(Index v, Side side);
    bool satisfied() const;
    void gather(Side side);
    void invite(Side side);
    Index record(FlipSets& sets, Amount score);

    Part part_;
    std::vector<Node> node_;
    std::vector<Amount> capacity_;
    std::vector<Index> active_, orphans_, members_;
    std::size_t first_active_ = 0;
    std::uint32_t time_ = 0;
    std::uint64_t visits_ = 0;

    Index asking_ = none;         // the node whose score is asked for
    std::vector<Amount> bound_;   // the score is at most this in size, because the node is in set within_
    std::vector<Index> within_;
};

}  // namespace rankcut::graph
