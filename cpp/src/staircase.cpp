#include "rankcut/loss/staircase.hpp"

namespace rankcut {
namespace {

// Calls run(begin, end) for each run of equal scores among the first n positions of `order`.
template <class Run>
void for_each_tie(const double* score, const std::vector<std::uint32_t>& order, std::size_t n, Run&& run) {
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        end = begin + 1;
        while (end < n && score[order[end]] == score[order[begin]]) ++end;
        run(begin, end);
    }
}

}  // namespace

void staircase_weights(const List& list, const Scratch& scratch, double* alpha_positive, double* alpha_negative) {
    const double pair = 2.0 / (static_cast<double>(list.P) * static_cast<double>(list.N));
    const auto& above = scratch.above;
    for_each_tie(list.positive, scratch.positives, list.P, [&](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t k = begin; k < end; ++k) sum += static_cast<double>(above[k]);
        const double weight = -pair * sum / static_cast<double>(end - begin);
        for (std::size_t k = begin; k < end; ++k) alpha_positive[scratch.positives[k]] = weight;
    });
    std::fill(alpha_negative, alpha_negative + list.N, 0.0);
    std::size_t k = 0;  // the positives from k on are below the j-th negative
    const auto& negatives = scratch.negatives;
    std::size_t reached = above.back();  // negatives above some positive, and those tied with the last of them
    while (reached > 0 && reached < negatives.size() &&
           list.negative[negatives[reached]] == list.negative[negatives[reached - 1]])
        ++reached;
    for_each_tie(list.negative, negatives, reached, [&](std::size_t begin, std::size_t end) {
        double sum = 0.0;
        for (std::size_t j = begin; j < end; ++j) {
            while (k < list.P && above[k] <= j) ++k;
            sum += static_cast<double>(list.P - k);
        }
        const double weight = pair * sum / static_cast<double>(end - begin);
        for (std::size_t j = begin; j < end; ++j) alpha_negative[negatives[j]] = weight;
    });
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
