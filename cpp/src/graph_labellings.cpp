#include "rankcut/graph/labellings.hpp"

#include <algorithm>

#include "rankcut/threads.hpp"

namespace rankcut::graph {

double energy(const Part& part, const double* unary, const double* costs, const std::uint8_t* label) {
    double sum = 0.0;
    for (Index v = 0; v < part.size; ++v) {
        if (!label[part.node[v]]) continue;
        sum += unary[part.node[v]];
        for (Index a = part.begin(v); a < part.end(v); ++a)
            if (!label[part.node[part.head[a]]]) sum -= costs[part.edge[a]];
    }
    return sum;
}

Labellings Labellings::keep(const std::uint8_t* sides) const {
    Labellings kept{layout, label, std::vector<FlipSets>(sets.size()), std::vector<Index>(flip.size(), FlipSets::none)};
    for (std::size_t b = 0; b < sets.size(); ++b) {
        std::vector<Index> place(sets[b].size(), FlipSets::none);  // a set's number in `kept`, or that it is wanted
        constexpr Index wanted = -2;
        auto each = [&](auto&& visit) {
            for (std::size_t c = layout->block_begin(b); c < layout->block_end(b); ++c) {
                const Part part = layout->part(c);
                for (Index v = 0; v < part.size; ++v)
                    if (!is_base(part.node[v], sides[part.node[v]])) visit(part.node[v]);
            }
        };
        each([&](Index i) { place[flip[i]] = wanted; });
        for (Index s = sets[b].size(); s-- > 0;)
            if (place[s] == wanted)
                for (const Index child : sets[b].children(s)) place[child] = wanted;
        for (Index s = 0; s < sets[b].size(); ++s) {
            if (place[s] != wanted) continue;
            for (const Index v : sets[b].nodes(s)) kept.sets[b].add_node(v);
            for (const Index e : sets[b].edges(s)) kept.sets[b].add_edge(e);
            for (const Index child : sets[b].children(s)) kept.sets[b].add_child(place[child]);
            place[s] = kept.sets[b].close();
        }
        each([&](Index i) { kept.flip[i] = place[flip[i]]; });
    }
    return kept;
}

void Labellings::values(const double* unary, const double* costs, const std::uint8_t* sides, double* out,
                        int n_threads) const {
    std::vector<double> phi(label.size());
    parallel_for(sets.size(), n_threads, [&](std::size_t b) {
        for (std::size_t c = layout->block_begin(b); c < layout->block_end(b); ++c) {
            const Part part = layout->part(c);
            const double best = energy(part, unary, costs, label.data());
            for (Index v = 0; v < part.size; ++v) {
                const Index i = part.node[v];
                double sum = label[i] ? -unary[i] : unary[i];
                for (Index a = part.begin(v); a < part.end(v); ++a)
                    sum += label[part.node[part.head[a]]] == label[i] ? -costs[part.edge[a]] : costs[part.edge[a]];
                phi[i] = sum;
                out[i] = best;
            }
        }
        std::vector<double> value(sets[b].size());
        for (Index s = 0; s < sets[b].size(); ++s) {
            double sum = 0.0;
            for (const Index v : sets[b].nodes(s)) sum += phi[v];
            for (const Index e : sets[b].edges(s)) sum += 2.0 * costs[e];
            for (const Index child : sets[b].children(s)) sum += value[child];
            value[s] = sum;
        }
        for (std::size_t c = layout->block_begin(b); c < layout->block_end(b); ++c) {
            const Part part = layout->part(c);
            for (Index v = 0; v < part.size; ++v)
                if (const Index i = part.node[v]; !is_base(i, sides[i])) out[i] += value[flip[i]];
        }
    });
}

void Labellings::pull(const double* plus, const double* minus, double* by_node, double* by_edge,
                      int n_threads) const {
    parallel_for(sets.size(), n_threads, [&](std::size_t b) {
        std::vector<double> weight(sets[b].size(), 0.0), base;
        for (std::size_t c = layout->block_begin(b); c < layout->block_end(b); ++c) {
            const Part part = layout->part(c);
            double sum = 0.0;
            for (Index v = 0; v < part.size; ++v) {
                const Index i = part.node[v];
                const double forced = label[i] ? minus[i] : plus[i];
                if (forced != 0.0) weight[flip[i]] += forced;
                sum += plus[i] + minus[i];
                by_node[i] = 0.0;
                for (Index a = part.begin(v); a < part.end(v); ++a) by_edge[part.edge[a]] = 0.0;
            }
            base.push_back(sum);
        }
        // By now how much each node flips, and how much both ends of each edge flip.
        for (Index s = sets[b].size(); s-- > 0;) {
            if (weight[s] == 0.0) continue;
            for (const Index v : sets[b].nodes(s)) by_node[v] += weight[s];
            for (const Index e : sets[b].edges(s)) by_edge[e] += weight[s];
            for (const Index child : sets[b].children(s)) weight[child] += weight[s];
        }
        for (std::size_t c = layout->block_begin(b); c < layout->block_end(b); ++c) {
            const Part part = layout->part(c);
            const double all = base[c - layout->block_begin(b)];
            for (Index v = 0; v < part.size; ++v) {
                for (Index a = part.begin(v); a < part.end(v); ++a) {
                    if (part.head[a] < v) continue;
                    const Index i = part.node[v], j = part.node[part.head[a]], e = part.edge[a];
                    const double either = by_node[i] + by_node[j];
                    by_edge[e] = label[i] == label[j] ? 2.0 * by_edge[e] - either : either - all;
                }
            }
            for (Index v = 0; v < part.size; ++v)
                if (const Index i = part.node[v]; label[i]) by_node[i] = all - by_node[i];
        }
    });
}

void Labellings::labelling(std::size_t i, bool side, std::uint8_t* out) const {
    std::fill(out, out + label.size(), std::uint8_t{0});
    for (std::size_t b = 0; b < sets.size(); ++b) {
        for (std::size_t c = layout->block_begin(b); c < layout->block_end(b); ++c) {
            const Part part = layout->part(c);
            if (std::find(part.node, part.node + part.size, static_cast<Index>(i)) == part.node + part.size) continue;
            for (Index v = 0; v < part.size; ++v) out[part.node[v]] = label[part.node[v]];
            if (is_base(i, side)) return;
            std::vector<Index> open{flip[i]};
            while (!open.empty()) {
                const Index s = open.back();
                open.pop_back();
                for (const Index v : sets[b].nodes(s)) out[v] ^= 1;
                for (const Index child : sets[b].children(s)) open.push_back(child);
            }
            return;
        }
    }
}

}  // namespace rankcut::graph
