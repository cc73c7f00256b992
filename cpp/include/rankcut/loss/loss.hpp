// What a loss over one list of samples is: its most violated ranking.
#pragma once

#include <cstddef>

#include "rankcut/loss/order.hpp"

namespace rankcut {

// One list: P scores of positives and N scores of negatives, each contiguous; P ≥ 1 and N ≥ 1.
struct List {
    const double* positive;
    std::size_t P;
    const double* negative;
    std::size_t N;
};

// R(z) = max over rankings of Δ(ranking) + Σ α_i(ranking) z_i.
class ListLoss {
  public:
    ListLoss() = default;
    ListLoss(const ListLoss&) = delete;
    ListLoss& operator=(const ListLoss&) = delete;
    virtual ~ListLoss() = default;

    // Writes α of the most violated ranking (every entry) and returns its Δ.
    virtual double most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                                 Scratch& scratch) const = 0;
};

}  // namespace rankcut
