// Max-marginals of any component, from one solved flow.
//
// With A the nodes on the sink's side, minus the energy is, up to a constant,
//
//     g(A) = Σ_{v∈A} excess_v + Σ_{arcs into A} capacity.
//
// Once the flow is solved, nothing can flow from label 1 (what the source can still reach) to label 0. Among
// the nodes of label 1 no excess is negative: call it stock. The score of one of them is the least g(A) of the
// sets A with it, so it is as much as could flow there, and A is the set that flips. For label 0 all is the
// same with arcs and signs turned. So one question is asked for every node: how much stock could reach it?
//
// Three things make the questions cheap.
// - A node's bound: what is at the node and could come over its arcs, or the score of a node whose set it is
//   in. When that much has come, the set is known.
// - A node j whose score is at least the bound of k counts as endless stock when k asks: a set with j in it is
//   worth at least the score of j, so it is never needed to explain the score of k. Nodes ask by falling
//   bound: after a few that are hard to reach, all others find endless stock around the corner.
// - Flow goes along shortest paths, all those of one length at a time (Dinitz, 1970), and is put back after
//   the question, or stays where it came: g is the same wherever stock has flowed. So only what was touched
//   is restored.
//
// And one makes large regions cheap that hold little. Let A be the set of v, and T those of its nodes whose score is
// g(A) as well. What meets T is best together with all of A: for any set B with a node of T,
// g(A ∪ B) ≤ g(A) + g(B) − g(A ∩ B) ≤ g(B). So T may count as one node. Stock goes through it without a search, and
// its inner arcs are never looked at again.
#pragma once

#include "rankcut/graph/flips.hpp"
#include "rankcut/graph/forest.hpp"

namespace rankcut::graph {

class Reach {
public:
    // In `answer` the signs of the scores become the scores, with the set that flips for each node.
    void solve(const Part& part, const Forest& solved, FlipSets& sets, Answer& answer);

private:
    static constexpr Amount endless = Amount{1} << 61;
    static constexpr std::size_t large = 16;      // nodes of a region
    static constexpr std::uint64_t far = 10'000;  // visits
    static constexpr Index loose = 3;             // times as many arcs lead out as stay inside: not worth merging

    struct Node {
        Amount stock = 0;
        Amount score = -1;       // its size, once known
        Amount around = 0;       // what is here and could come over its arcs: the score is at most this
        Index begin = 0, end = 0;         // its arcs
        Index merged = FlipSets::none;    // the nodes that it stands for, if there are several
        Index level = 0;         // steps to the node that asks
        Index next = 0;          // the arc to try next on the way there,
        Index left = 0;          // and how many are left to try
        std::uint32_t seen = 0;  // when it was last looked for
        bool fed = false;        // there is stock that could come here
    };
    struct Bound {
        Amount most = endless;  // the score is at most this,
        Index set = FlipSets::none;  // because of this set
    };
    struct Region {
        Amount score;                // of the set, which nothing can flow into
        std::vector<Index> members;  // those that may have the same score, in the order of asking
        std::size_t asked = 0;
    };
    struct Moved {
        Index where;  // an arc, or a node with stock
        Amount flow;
    };

    bool has_stock(const Node& x) const { return x.stock > 0 || x.score >= limit_; }
    void prepare(Index v, const Forest& solved, const Answer& answer);
    void ask(Index v, FlipSets& sets, Answer& answer);
    void ask_regions(FlipSets& sets, Answer& answer);
    void open_region(Amount score);
    void merge(const Region& region, FlipSets& sets);
    void join(const std::vector<Index>& nodes, FlipSets& sets);
    Amount fetch(Index v, Amount wanted, Amount limit);
    Amount beside(Index v, Amount wanted);
    bool layer(Index root);
    Amount pull(Index root, Amount wanted);
    Amount deliver(Index from, Amount wanted);
    void advance(Index v);
    Amount draw(Index v, Amount wanted);
    void push(Index arc, Amount flow);
    void put_back();
    Index record(Index v, Amount score, FlipSets& sets);
    void surround(Index v);

    Part part_;
    std::vector<Node> node_;
    std::vector<Index> head_, sister_, edge_;  // by arc: those of the part, then those of merged nodes
    std::vector<Amount> amount_;               // by arc: what could flow from its head to its tail
    std::vector<Bound> bound_;
    std::vector<Index> queue_, path_, found_;
    std::vector<Moved> pushed_, drawn_;
    std::vector<Region> regions_;  // each inside the one before it
    Amount limit_ = endless;  // a score of at least this is endless stock
    bool lent_ = false;       // and some came from there
    std::uint32_t time_ = 0;
    std::uint64_t visits_ = 0;
};

}  // namespace rankcut::graph
