// A sum that keeps what rounding takes from it (Neumaier).
#pragma once

#include <cmath>

namespace rankcut {

class Compensated {
  public:
    void add(double x) {
        const double next = sum_ + x;
        lost_ += std::abs(sum_) >= std::abs(x) ? (sum_ - next) + x : (x - next) + sum_;
        sum_ = next;
    }
    double sum() const { return sum_ + lost_; }

  private:
    double sum_ = 0.0, lost_ = 0.0;
};

}  // namespace rankcut
