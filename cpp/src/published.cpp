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

// How many negatives are not below all positives. A prefix of the sorted negatives; its border is found by
// bisection on the rank, and the score at a rank by selection among those still in question.
std::size_t select_relevant(const List& list, const Interleaving& rule, std::vector<std::uint32_t>& order) {
    const auto falls = [t = list.negative](std::uint32_t a, std::uint32_t b) {
        return t[a] != t[b] ? t[a] > t[b] : a < b;
    };
    std::size_t low = 0, high = list.N;  // the first `low` are relevant, those from `high` on are not
    while (low < high) {
        const std::size_t j = (low + high) / 2;
        const auto at = [&](std::size_t i) { return order.begin() + static_cast<std::ptrdiff_t>(i); };
        std::nth_element(at(low), at(j), at(high), falls);
        if (rule.search(j + 1, list.negative[order[j]]) < list.P) {
            low = j + 1;
        } else {
            high = j;
        }
    }
    const auto border = order.begin() + static_cast<std::ptrdiff_t>(low);
    std::sort(order.begin(), border, falls);
    if (low > 0) {  // those tied with the last relevant one come next: ties share their weights
        const double last = list.negative[*(border - 1)];
        std::partition(border, order.end(), [&](std::uint32_t j) { return list.negative[j] == last; });
    }
    return low;
}

}  // namespace

double PublishedAp::most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                                  Scratch& scratch) const {
    sort_falling(list.positive, nullptr, list.P, scratch, scratch.positives);
    scratch.top.resize(list.P);
    for (std::size_t k = 0; k < list.P; ++k) scratch.top[k] = list.positive[scratch.positives[k]];
    const Interleaving rule(list, scratch);
    std::size_t relevant = list.N;
    if (algorithm_ == ApAlgorithm::select) {
        scratch.negatives.resize(list.N);
        std::iota(scratch.negatives.begin(), scratch.negatives.end(), 0U);
        relevant = select_relevant(list, rule, scratch.negatives);
    } else {
        sort_falling(list.negative, nullptr, list.N, scratch, scratch.negatives);
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
