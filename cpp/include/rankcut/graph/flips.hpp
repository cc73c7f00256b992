// Sets of nodes that flip, stored once however many labellings share them.
//
// A set is its own nodes and those of its children, all disjoint; children are older sets. Its inner edges
// are its own and its children's: an edge with both ends in the set keeps both ends alike.
#pragma once

#include <span>
#include <vector>

#include "rankcut/graph/layout.hpp"

namespace rankcut::graph {

class FlipSets {
public:
    static constexpr Index none = -1;

    Index size() const { return static_cast<Index>(end_.size()); }
    void clear() {
        end_.clear(), nodes_.clear(), edges_.clear(), children_.clear();
    }
    void add_node(Index v) { nodes_.push_back(v); }
    void add_edge(Index e) { edges_.push_back(e); }
    void add_child(Index s) { children_.push_back(s); }
    // What was added since the last call becomes a set.
    Index close() {
        end_.push_back({nodes_.size(), edges_.size(), children_.size()});
        return size() - 1;
    }

    std::span<const Index> nodes(Index s) const { return {nodes_.data() + begin(s).node, nodes_.data() + end_[s].node}; }
    std::span<const Index> edges(Index s) const { return {edges_.data() + begin(s).edge, edges_.data() + end_[s].edge}; }
    std::span<const Index> children(Index s) const {
        return {children_.data() + begin(s).child, children_.data() + end_[s].child};
    }

private:
    struct Place {
        std::size_t node = 0, edge = 0, child = 0;
    };
    Place begin(Index s) const { return s == 0 ? Place{} : end_[s - 1]; }

    std::vector<Place> end_;
    std::vector<Index> nodes_, edges_, children_;
};

}  // namespace rankcut::graph
