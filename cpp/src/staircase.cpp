#include "rankcut/loss/staircase.hpp"

namespace rankcut {
namespace {

// Gives every run of equal scores that starts before `reached` the mean of its weights. A group that nobody
// has looked into has one weight for all.
void share_ties(const Order& order, std::size_t reached, double* alpha) {
    for (const auto& [begin, end] : order.ties()) {
        if (begin >= reached) continue;
        double sum = 0.0;
        for (std::size_t i = begin; i < end; ++i) sum += alpha[order[i]];
        for (std::size_t i = begin; i < end; ++i) alpha[order[i]] = sum / static_cast<double>(end - begin);
    }
}

}  // namespace

void staircase_weights(const List& list, const Scratch& scratch, double* alpha_positive, double* alpha_negative) {
    const double pair = 2.0 / (static_cast<double>(list.P) * static_cast<double>(list.N));
    const auto& above = scratch.above;
    std::fill(alpha_negative, alpha_negative + list.N, 0.0);
    std::size_t j = 0;
    for (std::size_t k = 0; k < list.P; ++k) {
        alpha_positive[scratch.positives[k]] = -pair * static_cast<double>(above[k]);
        const double weight = pair * static_cast<double>(list.P - k);
        for (; j < above[k]; ++j) alpha_negative[scratch.negatives[j]] = weight;
    }
    share_ties(scratch.positives, list.P, alpha_positive);
    share_ties(scratch.negatives, j, alpha_negative);
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
