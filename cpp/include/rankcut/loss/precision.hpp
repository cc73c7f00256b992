// Precision at k: Δ = 1 − (positives among the first k) / min(k, P), pair term as in every ranking loss.
//
// With m positives among the first k and b = k − m negatives, the best ranking puts a_i = min(u_i, b)
// negatives above positive i ≤ m, and max(u_i, b) above the others, u_i = #{j: t_j > s_i}. Prefix sums make
// each m cost a binary search; all m from max(0, k − N) to min(k, P) are tried.
#pragma once

#include "rankcut/loss/loss.hpp"

namespace rankcut {

class PrecisionLoss final : public ListLoss {
  public:
    explicit PrecisionLoss(std::size_t k) : k_(k) {}
    double most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                         Scratch& scratch) const override;

  private:
    std::size_t k_;
};

}  // namespace rankcut
