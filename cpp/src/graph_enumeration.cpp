#include "rankcut/graph/enumeration.hpp"

#include <bit>
#include <limits>

namespace rankcut::graph {

void Enumeration::prepare(const Part& part, const Amounts& amounts) {
    for (Index v = 0; v < part.size; ++v) {
        cost_[v].fill(0);
        gain_[v] = amounts.unary[v];
        for (Index a = part.begin(v); a < part.end(v); ++a) {
            gain_[v] -= amounts.cost[a];
            cost_[v][part.head[a]] += 2 * amounts.cost[a];
        }
    }
    plus_.fill(std::numeric_limits<Amount>::min());
    minus_.fill(std::numeric_limits<Amount>::min());
}

void Enumeration::look(Index n, Mask mask, Amount energy) {
    for (Index v = 0; v < n; ++v) {
        if (mask >> v & 1) {
            if (energy > plus_[v]) plus_[v] = energy, ones_with_[v] = mask;
            else if (energy == plus_[v]) ones_with_[v] &= mask;
        } else {
            if (energy > minus_[v]) minus_[v] = energy, ones_without_[v] = mask;
            else if (energy == minus_[v]) ones_without_[v] |= mask;
        }
    }
}

void Enumeration::solve(const Part& part, const Amounts& amounts, Answer& answer) {
    prepare(part, amounts);
    const Index n = part.size;
    Mask mask = 0;
    Amount energy = 0;
    look(n, mask, energy);
    for (Mask step = 1; step < Mask{1} << n; ++step) {
        const auto flipped = static_cast<std::size_t>(std::countr_zero(step));
        mask ^= Mask{1} << flipped;
        const bool on = mask >> flipped & 1;
        energy += on ? gain_[flipped] : -gain_[flipped];
        for (Index v = 0; v < n; ++v) gain_[v] += on ? cost_[flipped][v] : -cost_[flipped][v];
        look(n, mask, energy);
    }
    answer.score.resize(n);
    for (Index v = 0; v < n; ++v) answer.score[v] = plus_[v] - minus_[v];
    answer.visits += std::uint64_t{1} << n;
}

void Enumeration::flips(const Part& part, FlipSets& sets, Answer& answer) {
    Mask best = 0;
    for (Index v = 0; v < part.size; ++v) best |= Mask{answer.score[v] > 0} << v;
    std::array<Mask, tiny> flipped;
    answer.flip.resize(part.size);
    for (Index v = 0; v < part.size; ++v) {
        flipped[v] = answer.score[v] > 0 ? best & ~ones_without_[v] : ones_with_[v] & ~best;
        Index same = 0;
        while (flipped[same] != flipped[v]) ++same;
        answer.flip[v] = same < v ? answer.flip[same] : record(part, flipped[v], sets);
    }
}

Index Enumeration::record(const Part& part, Mask mask, FlipSets& sets) const {
    for (Index v = 0; v < part.size; ++v) {
        if (!(mask >> v & 1)) continue;
        sets.add_node(part.node[v]);
        for (Index a = part.begin(v); a < part.end(v); ++a)
            if (part.head[a] > v && (mask >> part.head[a] & 1)) sets.add_edge(part.edge[a]);
    }
    return sets.close();
}

}  // namespace rankcut::graph
