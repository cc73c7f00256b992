#include "rankcut/loss/staircase.hpp"

#include <algorithm>

namespace rankcut {
namespace {

// Gives every run of equal scores that starts before `reached` the mean of its weights. A group that nobody
// has looked into has one weight for all.
void share_ties(const Order& order, const Sorter& sorter, std::size_t reached, double* alpha) {
    for (const auto& [begin, end] : sorter.ties) {
        if (begin >= reached || alpha[order[begin]] == alpha[order[end - 1]]) continue;  // nothing to share
        double sum = 0.0;
        for (std::size_t i = begin; i < end; ++i) sum += alpha[order[i]];
        for (std::size_t i = begin; i < end; ++i) alpha[order[i]] = sum / static_cast<double>(end - begin);
    }
}

}  // namespace

void staircase_weights(const List& list, Scratch& scratch, double* alpha_positive, double* alpha_negative) {
    const double pair = 2.0 / (static_cast<double>(list.P) * static_cast<double>(list.N));
    const auto& above = scratch.above;
    for (std::size_t k = 0; k < list.P; ++k)
        alpha_positive[scratch.positives[k]] = -pair * static_cast<double>(above[k]);
    share_ties(scratch.positives, scratch.of_positives, list.P, alpha_positive);

    const Order& order = scratch.negatives;
    std::size_t k = 0;  // walks along the staircase with the ranks
    const auto weight = [&](std::size_t rank) {
        while (k < list.P && above[k] <= rank) ++k;
        return pair * static_cast<double>(list.P - k);
    };
    const std::size_t reached = above[list.P - 1];
    if (order.groups() == nullptr) {
        std::fill(alpha_negative, alpha_negative + list.N, 0.0);
        for (std::size_t j = 0; j < reached; ++j) alpha_negative[order[j]] = weight(j);
    } else {
        // A bin in which the staircase takes no step has one weight for all.
        const ScoreHistogram& bins = *order.groups();
        auto& table = scratch.weight_of_bin;
        table.assign(bins.bins(), 0.0);
        for (std::size_t bin = bins.bins(); bin-- > order.lowest() && bins.above(bin) < reached;)
            if (bins.from(bin) > bins.above(bin)) table[bin] = weight(bins.above(bin));
        bins.spread(table, alpha_negative, scratch.n_threads);
        for (k = 0; k < list.P;) {  // of the others, what follows each step
            const std::size_t j = above[k];
            while (k < list.P && above[k] == j) ++k;
            if (j == order.size()) break;
            const std::size_t last = bins.from(bins.bin_of(order[j]));
            const std::size_t end = k < list.P ? std::min(last, above[k]) : last;
            for (std::size_t rank = j; rank < end; ++rank)
                alpha_negative[order[rank]] = pair * static_cast<double>(list.P - k);
        }
    }
    for (const Sorter& sorter : scratch.of_negatives) share_ties(order, sorter, reached, alpha_negative);
}

void staircase_ranks(const List& list, const Scratch& scratch, std::int64_t* ranks) {
    std::fill(ranks, ranks + list.N, static_cast<std::int64_t>(list.P));
    std::size_t k = 0;
    for (std::size_t j = 0; j < scratch.negatives.size(); ++j) {
        while (k < list.P && scratch.above[k] <= j) ++k;
        ranks[scratch.negatives[j]] = static_cast<std::int64_t>(k);
    }
}

}  // namespace rankcut
