#include "rankcut/loss/risk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "rankcut/threads.hpp"

namespace rankcut {
namespace {

// Below this many scores to sort, starting threads costs more than it saves.
constexpr std::size_t worth_a_sort = worth_a_thread / 8;

}  // namespace

// Eight sums side by side: the compiler may use vectors, and the result is the same on every call.
double dot(const double* a, const double* b, std::size_t n) {
    std::array<double, 8> sum{};
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (std::size_t k = 0; k < 8; ++k) sum[k] += a[i + k] * b[i + k];
    for (; i < n; ++i) sum[i % 8] += a[i] * b[i];
    return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

LinePoint Risk::line(const double* z, const double* direction, double t, int n_threads) {
    point_.resize(size_);
    alpha_.resize(size_);
    in_blocks(size_, n_threads, [&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) point_[i] = z[i] + t * direction[i];
    });
    delta_ = evaluate(point_.data(), alpha_.data(), n_threads);
    std::vector<LinePoint> sums(size_ / block_length + 1, {0.0, 0.0});
    in_blocks(size_, n_threads, [&](std::size_t block, std::size_t begin, std::size_t end) {
        const double* alpha = alpha_.data() + begin;
        sums[block] = {dot(alpha, point_.data() + begin, end - begin), dot(alpha, direction + begin, end - begin)};
    });
    LinePoint total{delta_, 0.0};
    for (const auto& [value, slope] : sums) total = {total.value + value, total.slope + slope};
    value_ = total.value;
    return total;
}

double Risk::last(double* alpha) const {
    std::copy(alpha_.begin(), alpha_.end(), alpha);
    return delta_;
}

LinePoint Risk::turn(const double* direction, int n_threads) const {
    std::vector<double> sums(alpha_.size() / block_length + 1, 0.0);
    in_blocks(alpha_.size(), n_threads, [&](std::size_t block, std::size_t begin, std::size_t end) {
        sums[block] = dot(alpha_.data() + begin, direction + begin, end - begin);
    });
    double slope = 0.0;
    for (const double sum : sums) slope += sum;
    return {value_, slope};
}

void Risk::curvature(const double* z, const double* alpha, double* weight, int n_threads) {
    std::fill(weight, weight + size_, 0.0);
    const std::vector<Part> all = parts();
    parallel_for(all.size(), size_ < worth_a_sort ? 1 : n_threads, [&](std::size_t p) {
        // Where α is 0 it stays 0 nearby: only the others are sorted.
        std::vector<double> score;
        std::vector<std::size_t> place;
        for (std::size_t i = all[p].begin; i < all[p].end; ++i) {
            if (alpha[i] == 0.0) continue;
            score.push_back(z[i]);
            place.push_back(i);
        }
        const std::size_t n = place.size();
        Sorter sorter;
        Order order;
        order.sort_all(score.data(), n, sorter);
        const auto root = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(n))));
        const std::size_t window = std::max<std::size_t>(2, root);
        for (std::size_t i = 0; i < n; ++i) {
            const std::size_t high = place[order[i < window ? 0 : i - window]];
            const std::size_t low = place[order[std::min(i + window, n - 1)]];
            const double rise = alpha[high] - alpha[low], run = z[high] - z[low];
            weight[place[order[i]]] = rise > 0 && run > 0 ? rise / run : 0.0;
        }
    });
}

ListRisk::ListRisk(std::unique_ptr<ListLoss> loss, std::vector<std::size_t> offsets,
                   std::vector<std::size_t> positives)
    : Risk(offsets.back()), loss_(std::move(loss)), offsets_(std::move(offsets)), positives_(std::move(positives)) {
    // Lists are dealt out in batches of similar size, whose borders do not depend on the number of threads.
    constexpr std::size_t most = 16, least = 4096;
    const std::size_t share = std::max(least, size() / most + 1);
    batches_.push_back(0);
    for (std::size_t l = 0, begin = 0; l < positives_.size(); ++l) {
        if (offsets_[l + 1] - begin < share && l + 1 < positives_.size()) continue;
        batches_.push_back(l + 1);
        begin = offsets_[l + 1];
    }
    scratch_.resize(batches_.size() - 1);
    deltas_.resize(positives_.size());
}

double ListRisk::evaluate(const double* z, double* alpha, int n_threads) {
    const double share = 1.0 / static_cast<double>(positives_.size());
    parallel_for(scratch_.size(), size() < worth_a_sort ? 1 : n_threads, [&](std::size_t batch) {
        scratch_[batch].n_threads = scratch_.size() == 1 ? n_threads : 1;
        for (std::size_t l = batches_[batch]; l < batches_[batch + 1]; ++l) {
            const std::size_t begin = offsets_[l], P = positives_[l], middle = begin + P;
            const List list{z + begin, P, z + middle, offsets_[l + 1] - middle};
            deltas_[l] = loss_->most_violated(list, alpha + begin, alpha + middle, scratch_[batch]);
            if (share < 1.0)
                for (std::size_t i = begin; i < offsets_[l + 1]; ++i) alpha[i] *= share;
        }
    });
    double delta = 0.0;
    for (const double d : deltas_) delta += d;
    return delta * share;
}

std::vector<Risk::Part> ListRisk::parts() const {
    std::vector<Part> all;
    for (std::size_t l = 0; l < positives_.size(); ++l) {
        const std::size_t middle = offsets_[l] + positives_[l];
        all.push_back({offsets_[l], middle});
        all.push_back({middle, offsets_[l + 1]});
    }
    return all;
}

}  // namespace rankcut
