// The weighted hinge: R = (J Σ_pos max(0, 1−z) + Σ_neg max(0, 1+z)) / (J P + N).
#pragma once

#include <vector>

#include "rankcut/loss/loss.hpp"
#include "rankcut/loss/risk.hpp"

namespace rankcut {

class HingeLoss final : public ListLoss {
  public:
    explicit HingeLoss(double positive_weight) : weight_(positive_weight) {}

    double most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                         Scratch&) const override {
        const double one = 1.0 / (weight_ * static_cast<double>(list.P) + static_cast<double>(list.N));
        double positive = 0.0, negative = 0.0;
        for (std::size_t i = 0; i < list.P; ++i) {
            alpha_positive[i] = list.positive[i] < 1.0 ? -weight_ * one : 0.0;
            positive += alpha_positive[i];
        }
        for (std::size_t j = 0; j < list.N; ++j) {
            alpha_negative[j] = list.negative[j] > -1.0 ? one : 0.0;
            negative += alpha_negative[j];
        }
        return negative - positive;
    }

  private:
    double weight_;
};

// The same with the best unregularised intercept: R(z) = min over b of Σ_i u_i max(0, 1 − y_i (z_i + b)).
// A partial minimum of a convex function is convex, and its subgradient is the one at the best b, where the
// weights sum to zero: the solver needs to know nothing of the intercept.
class ShiftedHingeRisk final : public Risk {
  public:
    ShiftedHingeRisk(std::vector<std::size_t> offsets, std::vector<std::size_t> positives, double positive_weight);
    double evaluate(const double* z, double* alpha, int n_threads) override;
    double shift() const override { return shift_; }

  protected:
    std::vector<Part> parts() const override { return parts_; }

  private:
    struct Kink {
        double at;  // the b at which the sample's hinge starts (negative) or stops (positive) to count
        double weight;
    };
    std::vector<Part> parts_;
    std::vector<double> signed_weight_;  // y_i u_i
    double positive_sum_ = 0.0;          // Σ of u over the positives
    double shift_ = 0.0;
    std::vector<Kink> kinks_;
};

}  // namespace rankcut
