// The structure of a graph, built once: connected components, each with its own numbers.
//
// Nodes are renumbered component by component; inside a component neighbours get near numbers, and all
// numbers (of nodes and of arcs) start from 0 again. An edge is two arcs, sisters of each other. The arcs
// of a node are sorted by their heads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rankcut::graph {

using Index = std::int32_t;

// One connected component. `node` and `edge` lead back to the numbers of the caller.
struct Part {
    Index size = 0, n_arcs = 0;
    const Index* start = nullptr;  // of the arcs of each node; of the whole graph, hence minus base
    Index base = 0;
    const Index *node = nullptr, *head = nullptr, *sister = nullptr, *edge = nullptr;

    Index begin(Index v) const { return start[v] - base; }
    Index end(Index v) const { return start[v + 1] - base; }
    bool is_tree() const { return n_arcs == 2 * (size - 1); }
};

class Layout {
public:
    // Pairs (i, j) with 0 ≤ i, j < n_nodes, i ≠ j; the same pair may come again.
    Layout(std::size_t n_nodes, std::span<const std::int64_t> pairs);

    std::size_t n_nodes() const { return node_.size(); }
    std::size_t n_edges() const { return head_.size() / 2; }
    std::size_t n_parts() const { return part_.size() - 1; }
    Part part(std::size_t c) const;
    // Parts in blocks of about equal work, whose borders depend on the graph alone.
    std::size_t n_blocks() const { return block_.size() - 1; }
    std::size_t block_begin(std::size_t b) const { return block_[b]; }
    std::size_t block_end(std::size_t b) const { return block_[b + 1]; }

private:
    void number(std::span<const std::int64_t> pairs);
    void connect(std::span<const std::int64_t> pairs);
    void deal();

    std::vector<Index> node_, start_, head_, sister_, edge_;
    std::vector<Index> part_;         // the first node of each component, and the end
    std::vector<std::size_t> block_;  // the first component of each block, and the end
};

}  // namespace rankcut::graph
