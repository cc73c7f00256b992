#include "rankcut/loss/order.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rankcut {
namespace {

constexpr std::size_t radix_from = 512;  // below this a comparison sort of the keys is faster

// Sorts by the upper 32 bits, least significant digit first (11 + 11 + 10 bits); stable.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& swap) {
    constexpr std::array<unsigned, 3> shift{32, 43, 54};
    constexpr std::uint64_t mask = 2047;
    std::array<std::array<std::uint32_t, 2048>, 3> count{};
    for (const std::uint64_t key : keys)
        for (std::size_t d = 0; d < 3; ++d) ++count[d][(key >> shift[d]) & mask];
    swap.resize(keys.size());
    for (std::size_t d = 0; d < 3; ++d) {
        if (count[d][(keys[0] >> shift[d]) & mask] == keys.size()) continue;  // one digit for all
        std::uint32_t sum = 0;
        for (auto& c : count[d]) sum += std::exchange(c, sum);
        for (const std::uint64_t key : keys) swap[count[d][(key >> shift[d]) & mask]++] = key;
        keys.swap(swap);
    }
}

// Entries that share a quantised score are put in order by the score itself.
void sort_runs(const double* score, std::vector<std::uint64_t>& keys) {
    const auto falls = [score](std::uint64_t a, std::uint64_t b) {
        return score[static_cast<std::uint32_t>(a)] > score[static_cast<std::uint32_t>(b)];
    };
    for (std::size_t begin = 0; begin < keys.size();) {
        std::size_t end = begin + 1;
        while (end < keys.size() && (keys[end] >> 32) == (keys[begin] >> 32)) ++end;
        if (end - begin > 1) {
            const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin);
            const auto last = keys.begin() + static_cast<std::ptrdiff_t>(end);
            if (!std::is_sorted(first, last, falls)) std::stable_sort(first, last, falls);
        }
        begin = end;
    }
}

}  // namespace

void sort_falling(const double* score, const std::uint32_t* chosen, std::size_t n, Scratch& scratch,
                  std::vector<std::uint32_t>& order) {
    order.resize(n);
    if (n == 0) return;
    const auto at = [chosen](std::size_t i) { return chosen ? chosen[i] : static_cast<std::uint32_t>(i); };
    double low = score[at(0)], high = low;
    for (std::size_t i = 1; i < n; ++i) {
        low = std::min(low, score[at(i)]);
        high = std::max(high, score[at(i)]);
    }
    // Quantising to 32 bits keeps the order (not strictly); the position rides in the lower half.
    const double unit = high > low ? 4294967295.0 / (high - low) : 0.0;
    const bool steep = unit > 1e300;  // a range so small that its inverse overflows
    auto& keys = scratch.keys;
    keys.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t p = at(i);
        const double x = steep ? (high - score[p]) / (high - low) * 4294967295.0 : (high - score[p]) * unit;
        keys[i] = (static_cast<std::uint64_t>(std::min(x, 4294967295.0)) << 32) | p;
    }
    if (n < radix_from) {
        std::sort(keys.begin(), keys.end());  // positions rise within `chosen`, so this is stable too
    } else {
        radix_sort(keys, scratch.swap);
    }
    sort_runs(score, keys);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(keys[i]);
}

ScoreHistogram::ScoreHistogram(const double* score, std::size_t n, double floor, double ceiling,
                               std::vector<std::uint16_t>& bin_of)
    : floor_(floor), ceiling_(ceiling), bin_of_(bin_of), above_(bins, 0) {
    constexpr double last = bins - 1;
    const double width = ceiling - floor, unit = last / width;
    const bool steep = unit > 1e300;  // a range so small that its inverse overflows
    bin_of.resize(n);
    for (std::size_t i = 0; i < n; ++i) {  // bin 1 starts at the floor; no branches, so that it vectorises
        const double x = steep ? (score[i] - floor) / width * last : (score[i] - floor) * unit;
        bin_of[i] = static_cast<std::uint16_t>(static_cast<std::int32_t>(std::min(std::max(x + 1.0, 0.0), last)));
    }
    std::array<std::uint32_t, bins> count{};
    for (const std::uint16_t bin : bin_of) ++count[bin];
    for (std::size_t bin = bins - 1; bin > 0; --bin) above_[bin - 1] = above_[bin] + count[bin];
}

void ScoreHistogram::collect(std::size_t lowest, std::vector<std::uint32_t>& chosen) const {
    chosen.resize(lowest == 0 ? bin_of_.size() : above_[lowest - 1]);
    std::size_t kept = 0;
    const std::size_t n = chosen.size();
    for (std::size_t i = 0; kept < n; ++i) {  // no branch inside: write always, advance only past the kept
        chosen[kept] = static_cast<std::uint32_t>(i);
        kept += static_cast<std::size_t>(bin_of_[i] >= lowest);
    }
}

}  // namespace rankcut
