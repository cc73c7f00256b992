// The published algorithms for the most violated ranking of AP-SVM, with their errata repaired (the rank
// P+1, "below all positives", is among the choices). They find the interleaving rank opt_j of each negative:
// it goes between the positives opt_j − 1 and opt_j, where opt_j maximises
//
//     δ_j(i) = Σ_{k=i}^{P} f_k(j),   f_k(j) = k/(P (k+j)(k+j−1)) − 2/(PN) (s_k − t_j),   δ_j(P+1) = 0.
//
// opt_j rises with j. They are kept for comparison, and as tests of one another; `staircase` is faster.
#pragma once

#include <cstdint>

#include "rankcut/loss/loss.hpp"

namespace rankcut {

enum class ApAlgorithm {
    greedy,  // every negative scans every positive: O(PN)
    search,  // f_k(j) rises in k ≤ min(P, j): binary search there, a scan beyond
    select,  // `search`, only for the negatives that are not below all positives, found by selection
};

class PublishedAp final : public ListLoss {
  public:
    explicit PublishedAp(ApAlgorithm algorithm) : algorithm_(algorithm) {}
    double most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                         Scratch& scratch) const override;

  private:
    ApAlgorithm algorithm_;
};

}  // namespace rankcut
