#include "rankcut/graph/layout.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace rankcut::graph {

namespace {

// The ends of the edges at each node: those of node v are other[start[v]] to other[start[v + 1]].
struct Neighbours {
    std::vector<Index> start, other, edge;

    Neighbours(std::size_t n_nodes, std::span<const std::int64_t> pairs)
        : start(n_nodes + 1, 0), other(pairs.size()), edge(pairs.size()) {
        for (const std::int64_t v : pairs) ++start[static_cast<std::size_t>(v) + 1];
        for (std::size_t v = 0; v < n_nodes; ++v) start[v + 1] += start[v];
        std::vector<Index> next(start.begin(), start.end() - 1);
        for (std::size_t k = 0; k < pairs.size(); ++k) {
            const Index place = next[pairs[k]]++;
            other[place] = static_cast<Index>(pairs[k ^ 1]);
            edge[place] = static_cast<Index>(k / 2);
        }
    }
};

void check(std::size_t n_nodes, std::span<const std::int64_t> pairs) {
    constexpr std::size_t most = std::numeric_limits<Index>::max() / 2;
    if (n_nodes > most || pairs.size() > most)
        throw std::invalid_argument("a graph may have 2^30 nodes and 2^29 edges");
    for (std::size_t k = 0; k < pairs.size(); ++k) {
        if (pairs[k] < 0 || static_cast<std::size_t>(pairs[k]) >= n_nodes)
            throw std::invalid_argument("an edge names a node that is not there");
        if (pairs[k] == pairs[k ^ 1]) throw std::invalid_argument("an edge joins a node with itself");
    }
}

}  // namespace

Layout::Layout(std::size_t n_nodes, std::span<const std::int64_t> pairs) {
    if (pairs.size() % 2 != 0) throw std::invalid_argument("edges come as pairs");
    check(n_nodes, pairs);
    node_.resize(n_nodes);
    number(pairs);
    connect(pairs);
    deal();
}

// Depth first: a node is numbered right after the neighbour it was reached from, where possible.
void Layout::number(std::span<const std::int64_t> pairs) {
    const Neighbours near(node_.size(), pairs);
    std::vector<Index> next(near.start.begin(), near.start.end() - 1), path;
    std::vector<char> seen(node_.size(), 0);
    std::size_t count = 0;
    auto visit = [&](Index v) {
        seen[v] = 1;
        node_[count++] = v;
        path.push_back(v);
    };
    part_.push_back(0);
    for (std::size_t root = 0; root < node_.size(); ++root) {
        if (seen[root]) continue;
        visit(static_cast<Index>(root));
        while (!path.empty()) {
            const Index v = path.back();
            if (next[v] == near.start[v + 1]) {
                path.pop_back();
            } else if (const Index w = near.other[next[v]++]; !seen[w]) {
                visit(w);
            }
        }
        part_.push_back(static_cast<Index>(count));
    }
}

void Layout::connect(std::span<const std::int64_t> pairs) {
    const Neighbours near(node_.size(), pairs);
    std::vector<Index> place(node_.size());  // of a node of the caller
    for (std::size_t p = 0; p < node_.size(); ++p) place[node_[p]] = static_cast<Index>(p);
    start_.assign(node_.size() + 1, 0);
    for (std::size_t p = 0; p < node_.size(); ++p)
        start_[p + 1] = start_[p] + near.start[node_[p] + 1] - near.start[node_[p]];
    head_.resize(pairs.size());
    sister_.resize(pairs.size());
    edge_.resize(pairs.size());
    // Heads in rising order: every node q gives itself as a head to its neighbours, one q after the other.
    std::vector<Index> next(start_.begin(), start_.end() - 1), first_of(pairs.size() / 2, -1);
    for (std::size_t c = 0; c + 1 < part_.size(); ++c) {
        const Index from = part_[c], base = start_[from];
        for (Index q = from; q < part_[c + 1]; ++q) {
            for (Index k = near.start[node_[q]]; k < near.start[node_[q] + 1]; ++k) {
                const Index e = near.edge[k], a = next[place[near.other[k]]]++;
                head_[a] = q - from;
                edge_[a] = e;
                if (first_of[e] < 0) {
                    first_of[e] = a;
                } else {
                    sister_[a] = first_of[e] - base;
                    sister_[first_of[e]] = a - base;
                }
            }
        }
    }
}

void Layout::deal() {
    constexpr Index share = 4096;
    block_.push_back(0);
    Index work = 0;
    for (std::size_t c = 0; c < n_parts(); ++c) {
        work += (part_[c + 1] - part_[c]) + (start_[part_[c + 1]] - start_[part_[c]]);
        if (work < share && c + 1 < n_parts()) continue;
        block_.push_back(c + 1);
        work = 0;
    }
}

Part Layout::part(std::size_t c) const {
    Part part;
    const Index from = part_[c];
    part.size = part_[c + 1] - from;
    part.start = start_.data() + from;
    part.base = start_[from];
    part.n_arcs = start_[part_[c + 1]] - part.base;
    part.node = node_.data() + from;
    part.head = head_.data() + part.base;
    part.sister = sister_.data() + part.base;
    part.edge = edge_.data() + part.base;
    return part;
}

}  // namespace rankcut::graph
