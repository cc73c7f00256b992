#include "rankcut/loss/published.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "rankcut/loss/staircase.hpp"

namespace rankcut {
namespace {

class Interleaving {
  public:
    Interleaving(const List& list, const Scratch& scratch)
        : list_(list), top_(scratch.top), gain_(list.P, list.N),
          pair_(2.0 / (static_cast<double>(list.P) * static_cast<double>(list.N))) {}

    // Scans all ranks. Ranks count from 0 here: rank P means below all positives.
    std::size_t greedy(std::size_t j, double t) const { return scan(0, j, t).first; }

    // Binary search for the first k ≤ min(P, j) with f_k(j) > 0; if that leaves positives, scan them too.
    std::size_t search(std::size_t j, double t) const {
        const std::size_t p = std::min(list_.P, j);
        std::size_t low = 0, high = p;
        while (low < high) {
            const std::size_t k = (low + high) / 2;
            if (f(k, j, t) > 0) {
                high = k;
            } else {
                low = k + 1;
            }
        }
        if (p == list_.P) return low;
        const auto [beyond, best] = scan(p, j, t);  // δ_j(beyond) = best, over the ranks p … P
        double sum = all_beyond(p, j, t);
        for (std::size_t k = p; k-- > low;) sum += f(k, j, t);
        return sum > best ? low : beyond;
    }

  private:
    double f(std::size_t k, std::size_t j, double t) const {
        return gain_.step(static_cast<double>(k + 1), static_cast<double>(j)) - pair_ * (top_[k] - t);
    }
    // The best rank among first … P, and its δ_j; the lowest rank when several are best.
    std::pair<std::size_t, double> scan(std::size_t first, std::size_t j, double t) const {
        double sum = 0.0, best = 0.0;
        std::size_t rank = list_.P;
        for (std::size_t k = list_.P; k-- > first;) {
            sum += f(k, j, t);
            if (sum > best) {
                best = sum;
                rank = k;
            }
        }
        return {rank, best};
    }
    double all_beyond(std::size_t first, std::size_t j, double t) const {
        double sum = 0.0;
        for (std::size_t k = list_.P; k-- > first;) sum += f(k, j, t);
        return sum;
    }

    const List& list_;
    const std::vector<double>& top_;
    ApGain gain_;
    double pair_;
};

// Sorts the negatives that are not below all positives, and returns how many they are. They are a prefix of
// the sorted negatives; its border is found by bisection on the rank, and the score at a rank by selection
// among those still in question. Those tied with the last of them come along: ties share their weights.
std::size_t select_relevant(const List& list, const Interleaving& rule, Scratch& scratch) {
    const double* t = list.negative;
    std::vector<std::uint32_t> index(list.N);
    std::iota(index.begin(), index.end(), 0U);
    const auto falls = [t](std::uint32_t a, std::uint32_t b) { return t[a] != t[b] ? t[a] > t[b] : a < b; };
    const auto at = [&](std::size_t i) { return index.begin() + static_cast<std::ptrdiff_t>(i); };
    std::size_t low = 0, high = list.N;  // the first `low` are relevant, those from `high` on are not
    while (low < high) {
        const std::size_t j = (low + high) / 2;
        std::nth_element(at(low), at(j), at(high), falls);
        if (rule.search(j + 1, t[index[j]]) < list.P) {
            low = j + 1;
        } else {
            high = j;
        }
    }
    if (low == 0) {
        scratch.negatives.clear();
        return 0;
    }
    const double least = t[*std::min_element(at(0), at(low), [t](auto a, auto b) { return t[a] < t[b]; })];
    const auto end = std::partition(at(low), index.end(), [&](std::uint32_t j) { return t[j] == least; });
    index.erase(end, index.end());
    scratch.negatives.sort_some(t, index, scratch.of_negatives[0]);
    return low;
}

}  // namespace

double PublishedAp::most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                                  Scratch& scratch) const {
    scratch.positives.sort_all(list.positive, list.P, scratch.of_positives);
    scratch.top.resize(list.P);
    for (std::size_t k = 0; k < list.P; ++k) scratch.top[k] = list.positive[scratch.positives[k]];
    const Interleaving rule(list, scratch);
    std::size_t relevant = list.N;
    if (algorithm_ == ApAlgorithm::select) {
        relevant = select_relevant(list, rule, scratch);
    } else {
        scratch.negatives.sort_all(list.negative, list.N, scratch.of_negatives[0]);
    }
    // a_k = number of negatives whose rank is at most k; ranks rise with j, so count in passing.
    scratch.above.assign(list.P, 0);
    for (std::size_t j = 0; j < relevant; ++j) {
        const double t = list.negative[scratch.negatives[j]];
        const std::size_t rank =
            algorithm_ == ApAlgorithm::greedy ? rule.greedy(j + 1, t) : rule.search(j + 1, t);
        if (rank < list.P) ++scratch.above[rank];
    }
    std::partial_sum(scratch.above.begin(), scratch.above.end(), scratch.above.begin());
    staircase_weights(list, scratch, alpha_positive, alpha_negative);
    const ApGain gain(list.P, list.N);
    double delta = 0.0;
    for (std::size_t k = 0; k < list.P; ++k)
        delta += gain.total(static_cast<double>(k + 1), static_cast<double>(scratch.above[k]));
    return delta;
}

}  // namespace rankcut
