#include "rankcut/bags.hpp"

#include <algorithm>
#include <limits>

#include "rankcut/threads.hpp"

namespace rankcut {

namespace {

// Borders of batches of bags: of so many instances at least, whatever the number of threads.
constexpr std::int64_t least = 1 << 14;

std::vector<std::size_t> borders(const Bags& bags) {
    std::vector<std::size_t> all{0};
    std::int64_t held = 0;
    for (std::size_t i = 0; i < bags.size; ++i) {
        held += bags.end[i] - bags.begin[i];
        if (held < least) continue;
        all.push_back(i + 1);
        held = 0;
    }
    if (all.back() != bags.size) all.push_back(bags.size);
    return all;
}

}  // namespace

void best_instances(const Bags& bags, const double* z, double* score, std::int64_t* instance, int n_threads) {
    const std::vector<std::size_t> edges = borders(bags);
    parallel_for(edges.size() - 1, n_threads, [&](std::size_t batch) {
        for (std::size_t i = edges[batch]; i < edges[batch + 1]; ++i) {
            std::int64_t best = -1;
            double top = -std::numeric_limits<double>::infinity();
            for (std::int64_t h = bags.begin[i]; h < bags.end[i]; ++h) {
                if (bags.left_out != nullptr && bags.left_out[h] != 0) continue;
                if (best < 0 || z[h] > top) {
                    top = z[h];
                    best = h;
                }
            }
            score[i] = top;
            instance[i] = best;
        }
    });
}

BagLine::BagLine(const Bags& bags, const double* z, const double* direction, double reach, int n_threads)
    : size_(bags.size), reach_(reach) {
    const std::vector<std::size_t> edges = borders(bags);
    batches_.resize(edges.size() - 1);
    parallel_for(batches_.size(), n_threads, [&](std::size_t b) {
        Batch& batch = batches_[b];
        batch.first = edges[b];
        batch.last = edges[b + 1];
        batch.ends.reserve(batch.last - batch.first);
        for (std::size_t i = batch.first; i < batch.last; ++i) {
            const auto counts = [&](std::int64_t h) { return bags.left_out == nullptr || bags.left_out[h] == 0; };
            std::int64_t best = bags.begin[i];
            while (!counts(best)) ++best;
            double floor = -std::numeric_limits<double>::infinity();
            for (std::int64_t h = best; h < bags.end[i]; ++h) {
                if (!counts(h)) continue;
                if (z[h] > z[best] || (z[h] == z[best] && direction[h] > direction[best])) best = h;
                floor = std::max(floor, std::min(z[h], z[h] + reach * direction[h]));
            }
            batch.instances.push_back({z[best], direction[best]});
            const double last = z[best] + reach * direction[best];
            for (std::int64_t h = bags.begin[i]; h < bags.end[i]; ++h) {
                const double end = z[h] + reach * direction[h];
                if (end > last && std::max(z[h], end) >= floor && counts(h)) batch.instances.push_back({z[h], direction[h]});
            }
            batch.ends.push_back(static_cast<std::uint32_t>(batch.instances.size()));
        }
    });
}

std::size_t BagLine::kept() const {
    std::size_t sum = 0;
    for (const Batch& batch : batches_) sum += batch.instances.size();
    return sum;
}

void BagLine::at(double t, double* score, double* slope, int n_threads) const {
    parallel_for(batches_.size(), n_threads, [&](std::size_t b) {
        const Batch& batch = batches_[b];
        std::size_t h = 0;
        for (std::size_t i = batch.first; i < batch.last; ++i) {
            const std::size_t end = batch.ends[i - batch.first];
            double top = batch.instances[h].start + t * batch.instances[h].direction;
            double rise = batch.instances[h].direction;
            for (++h; h < end; ++h) {
                const double value = batch.instances[h].start + t * batch.instances[h].direction;
                if (value > top) {
                    top = value;
                    rise = batch.instances[h].direction;
                }
            }
            score[i] = top;
            slope[i] = rise;
        }
    });
}

}  // namespace rankcut
