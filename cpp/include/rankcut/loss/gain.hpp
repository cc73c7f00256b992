// The concave φ_k of each staircase loss (DESIGN §3): what the loss gains when `a` negatives are
// placed above the k-th positive. k and a count from 1; φ_k(0) = 0.
//
// Each offers `total(k, a)` = φ_k(a) and `step(k, a)` = φ_k(a) − φ_k(a−1), which falls in a.
#pragma once

#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

namespace rankcut {

// Average precision: positive k at rank k+a has precision k/(k+a), so φ_k(a) = a / (P (k+a)).
struct ApGain {
    double P;
    ApGain(std::size_t P_, std::size_t) : P(static_cast<double>(P_)) {}
    double total(double k, double a) const { return a / (P * (k + a)); }
    double step(double k, double a) const { return k / (P * (k + a) * (k + a - 1)); }
};

// Area under the ROC curve, as a mean over pairs of max(0, 1 − 2(z_i − z_j)): φ_k(a) = a / (PN).
struct AucGain {
    double each;
    AucGain(std::size_t P, std::size_t N) : each(1.0 / (static_cast<double>(P) * static_cast<double>(N))) {}
    double total(double, double a) const { return a * each; }
    double step(double, double) const { return each; }
};

// Reciprocal rank of the first positive: φ_1(a) = 1 − 1/(1+a), the others gain nothing.
struct MrrGain {
    MrrGain(std::size_t, std::size_t) {}
    double total(double k, double a) const { return k < 2 ? a / (1 + a) : 0.0; }
    double step(double k, double a) const { return k < 2 ? 1 / (a * (1 + a)) : 0.0; }
};

// Discounts D(r) = 1/log2(1+r) and their sums, shared by all lists of a problem.
struct Discounts {
    std::vector<double> at, sum;
    explicit Discounts(std::size_t longest) : at(longest + 1, 0.0), sum(longest + 1, 0.0) {
        for (std::size_t r = 1; r <= longest; ++r) {
            at[r] = 1.0 / std::log2(1.0 + static_cast<double>(r));
            sum[r] = sum[r - 1] + at[r];
        }
    }
};

// NDCG with binary gains: φ_k(a) = (D(k) − D(k+a)) / Σ_{k≤P} D(k), concave because D is convex.
struct NdcgGain {
    const double* at;
    double ideal;
    NdcgGain(std::size_t P, std::size_t, const Discounts& table) : at(table.at.data()), ideal(table.sum[P]) {}
    double total(double k, double a) const { return (d(k) - d(k + a)) / ideal; }
    double step(double k, double a) const { return (d(k + a - 1) - d(k + a)) / ideal; }

  private:
    double d(double rank) const { return at[static_cast<std::size_t>(rank)]; }
};

}  // namespace rankcut
