#include "rankcut/loss/hinge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rankcut {
namespace {

constexpr double rounding = 1e-12;  // of the positives' weight: no slope

}  // namespace

ShiftedHingeRisk::ShiftedHingeRisk(std::vector<std::size_t> offsets, std::vector<std::size_t> positives,
                                   double positive_weight)
    : Risk(offsets.back()), signed_weight_(offsets.back()), kinks_(offsets.back()) {
    const double lists = static_cast<double>(positives.size());
    for (std::size_t l = 0; l < positives.size(); ++l) {
        const std::size_t begin = offsets[l], end = offsets[l + 1], middle = begin + positives[l];
        const double total = positive_weight * static_cast<double>(positives[l]) + static_cast<double>(end - middle);
        for (std::size_t i = begin; i < end; ++i)
            signed_weight_[i] = (i < middle ? positive_weight : -1.0) / (total * lists);
        parts_.push_back({begin, middle});
        parts_.push_back({middle, end});
        positive_sum_ += positive_weight * static_cast<double>(positives[l]) / (total * lists);
    }
}

// The slope in b is −(weight of positives with 1 − z > b) + (weight of negatives with −1 − z < b): it starts
// at −Σ_pos u and grows by u at each kink. So the best b is the weighted quantile of the kinks at Σ_pos u,
// found by selection. The samples that have their kink there share what is missing, so that Σ α = 0.
// Where the slope is zero from one kink to the next, as between classes of the same weight that are apart, or not
// told apart at all (w ≈ 0), every b between them is best: the shift is the middle.
double ShiftedHingeRisk::evaluate(const double* z, double* alpha, int) {
    for (std::size_t i = 0; i < size(); ++i) {
        const double u = signed_weight_[i];
        kinks_[i] = {(u > 0 ? 1.0 : -1.0) - z[i], std::abs(u)};
    }
    const auto before = [](const Kink& a, const Kink& b) { return a.at < b.at; };
    const auto weigh = [](auto first, auto last) {
        double sum = 0.0;
        for (; first != last; ++first) sum += first->weight;
        return sum;
    };
    auto low = kinks_.begin(), high = kinks_.end();
    double below = 0.0;  // weight of the kinks before `low`
    while (high - low > 1) {
        const auto middle = low + (high - low) / 2;
        std::nth_element(low, middle, high, before);
        const double left = weigh(low, middle);
        if (below + left > positive_sum_) {
            high = middle;
        } else {
            below += left;
            low = middle;
        }
    }
    shift_ = low->at;
    const double at = shift_;
    double under = 0.0, tied = 0.0;
    double last = -std::numeric_limits<double>::infinity(), next = -last;  // the kinks beside it
    for (const Kink& kink : kinks_) {
        if (kink.at == at) {
            tied += kink.weight;
        } else if (kink.at < at) {
            under += kink.weight;
            last = std::max(last, kink.at);
        } else {
            next = std::min(next, kink.at);
        }
    }
    const double passed = std::clamp((positive_sum_ - under) / tied, 0.0, 1.0);
    if (std::abs(positive_sum_ - under - tied) <= rounding * positive_sum_ && std::isfinite(next))
        shift_ = 0.5 * (at + next);
    else if (std::abs(positive_sum_ - under) <= rounding * positive_sum_ && std::isfinite(last))
        shift_ = 0.5 * (last + at);
    double delta = 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
        const double u = signed_weight_[i], kink = (u > 0 ? 1.0 : -1.0) - z[i];
        const double share = kink < at ? 1.0 : kink == at ? passed : 0.0;  // how far b is past the kink
        alpha[i] = u > 0 ? -u * (1.0 - share) : -u * share;
        delta += std::abs(alpha[i]);
    }
    return delta;
}

}  // namespace rankcut
