#include "rankcut/loss/precision.hpp"

#include <algorithm>
#include <limits>

#include "rankcut/loss/staircase.hpp"

namespace rankcut {
namespace {

// Sums over sorted samples that make the value of any m a matter of look-ups.
// H_i(a) = Σ_{j≤a} (t_j − s_i) is what positive i adds with `a` negatives above it, before the factor 2/(PN).
class Tries {
  public:
    Tries(const List& list, Scratch& scratch) : list_(list), above_(scratch.above) {
        const std::size_t P = list.P;
        free_.assign(P + 1, 0.0);
        top_.assign(P + 1, 0.0);
        bottom_.assign(list.N + 1, 0.0);
        for (std::size_t j = 0; j < list.N; ++j)
            bottom_[j + 1] = bottom_[j] + list.negative[scratch.negatives[j]];
        for (std::size_t i = 0; i < P; ++i) {
            const double a = static_cast<double>(above_[i]);
            free_[i + 1] = free_[i] + (bottom_[above_[i]] - a * scratch.top[i]);
            top_[i + 1] = top_[i] + scratch.top[i];
        }
    }
    // Σ_i H_i(a_i) when m positives and b negatives are the first.
    double pairs(std::size_t m, std::size_t b) const {
        // u_i rises with i: the positives before `c` have u_i ≤ b.
        const auto c = static_cast<std::size_t>(
            std::upper_bound(above_.begin(), above_.end(), b) - above_.begin());
        const std::size_t inside = std::min(m, c), outside = std::max(m, c);
        return free_[inside] + fixed(inside, m, b) + fixed(m, outside, b) + (free_[list_.P] - free_[outside]);
    }

  private:
    double fixed(std::size_t begin, std::size_t end, std::size_t b) const {  // Σ H_i(b) over [begin, end)
        if (begin >= end) return 0.0;
        return static_cast<double>(end - begin) * bottom_[b] - static_cast<double>(b) * (top_[end] - top_[begin]);
    }
    const List& list_;
    const std::vector<std::size_t>& above_;
    std::vector<double> free_, top_, bottom_;
};

}  // namespace

double PrecisionLoss::most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                                    Scratch& scratch) const {
    const std::size_t k = std::min(k_, list.P + list.N);
    const double best_possible = static_cast<double>(std::min(k, list.P));
    scratch.positives.sort_all(list.positive, list.P, scratch.of_positives);
    scratch.negatives.sort_all(list.negative, list.N, scratch.of_negatives[0]);
    scratch.top.resize(list.P);
    scratch.above.resize(list.P);
    for (std::size_t i = 0, u = 0; i < list.P; ++i) {
        scratch.top[i] = list.positive[scratch.positives[i]];
        while (u < list.N && list.negative[scratch.negatives[u]] > scratch.top[i]) ++u;
        scratch.above[i] = u;
    }
    const Tries tries(list, scratch);
    const double pair = 2.0 / (static_cast<double>(list.P) * static_cast<double>(list.N));
    std::size_t best_m = 0;
    double best = -std::numeric_limits<double>::infinity();
    for (std::size_t m = k > list.N ? k - list.N : 0; m <= std::min(k, list.P); ++m) {
        const double value = 1.0 - static_cast<double>(m) / best_possible + pair * tries.pairs(m, k - m);
        if (value >= best) {  // of equals the one with the smaller loss
            best = value;
            best_m = m;
        }
    }
    const std::size_t b = k - best_m;
    for (std::size_t i = 0; i < list.P; ++i)
        scratch.above[i] = i < best_m ? std::min(scratch.above[i], b) : std::max(scratch.above[i], b);
    staircase_weights(list, scratch, alpha_positive, alpha_negative);
    return 1.0 - static_cast<double>(best_m) / best_possible;
}

}  // namespace rankcut
