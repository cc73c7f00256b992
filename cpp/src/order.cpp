#include "rankcut/loss/order.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace rankcut {
namespace {

constexpr std::size_t radix_from = 512;  // below this a comparison sort of the keys is faster
constexpr std::size_t few = 16;            // up to here, insertion is faster than merging
constexpr unsigned digit = 12;           // bits; two of them order all but close neighbours
constexpr std::uint64_t digits = 1U << digit;
constexpr double finest = static_cast<double>(digits * digits - 1);

// Keys hold a score, quantised to 24 bits of the range [low, high] so that the best come first, above the
// position. Quantising keeps the order, though not strictly.
class Quantiser {
  public:
    Quantiser(double low, double high) : high_(high), width_(high - low), unit_(finest / width_) {
        steep_ = !(unit_ <= 1e300);  // a range so small, or empty, that its inverse overflows
    }
    std::uint64_t operator()(double score, std::size_t position) const {
        double x = 0.0;
        if (!steep_) {
            x = (high_ - score) * unit_;
        } else if (width_ > 0) {
            x = (high_ - score) / width_ * finest;
        }
        return (static_cast<std::uint64_t>(std::min(x, finest)) << 32) | position;
    }

  private:
    double high_, width_, unit_;
    bool steep_;
};

// Sorts by the quantised score, least significant digit first; stable.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& swap) {
    std::array<std::array<std::uint32_t, digits>, 2> count{};
    for (const std::uint64_t key : keys) {
        ++count[0][(key >> 32) & (digits - 1)];
        ++count[1][key >> (32 + digit)];
    }
    swap.resize(keys.size());
    for (unsigned d = 0; d < 2; ++d) {
        const unsigned shift = 32 + d * digit;
        if (count[d][(keys[0] >> shift) & (digits - 1)] == keys.size()) continue;  // one digit for all
        std::uint32_t sum = 0;
        for (auto& c : count[d]) sum += std::exchange(c, sum);
        for (const std::uint64_t key : keys) swap[count[d][(key >> shift) & (digits - 1)]++] = key;
        keys.swap(swap);
    }
}

// Stable, and without the memory that std::stable_sort asks for.
template <class Iterator, class Before>
void insert_sorted(Iterator first, Iterator last, Before before) {
    for (auto i = first + 1; i < last; ++i)
        for (auto j = i; j > first && before(*j, *(j - 1)); --j) std::iter_swap(j, j - 1);
}

// Keys that share a quantised score are put in order by the score itself; equal scores are noted as ties.
void settle(const double* score, std::vector<std::uint64_t>& keys, Order& order) {
    const auto of = [score](std::uint64_t key) { return score[static_cast<std::uint32_t>(key)]; };
    const auto falls = [&](std::uint64_t a, std::uint64_t b) { return of(a) > of(b); };
    order.ties.clear();
    const std::size_t n = keys.size();
    for (std::size_t begin = 0, end; begin < n; begin = end) {
        for (end = begin + 1; end < n && (keys[end] >> 32) == (keys[begin] >> 32);) ++end;
        if (end - begin < 2) continue;
        const auto first = keys.begin() + static_cast<std::ptrdiff_t>(begin);
        const auto last = keys.begin() + static_cast<std::ptrdiff_t>(end);
        if (end - begin <= few) {
            insert_sorted(first, last, falls);
        } else if (!std::is_sorted(first, last, falls)) {
            std::stable_sort(first, last, falls);
        }
        for (std::size_t i = begin, j; i < end; i = j) {
            for (j = i + 1; j < end && of(keys[j]) == of(keys[i]);) ++j;
            if (j - i > 1) order.ties.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
        }
    }
}

void sort_keys(const double* score, Scratch& scratch, Order& order) {
    auto& keys = scratch.keys;
    if (keys.size() < radix_from) {
        std::sort(keys.begin(), keys.end());  // positions rise, so this is stable too
    } else {
        radix_sort(keys, scratch.swap);
    }
    settle(score, keys, order);
    order.position.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) order.position[i] = static_cast<std::uint32_t>(keys[i]);
}

}  // namespace

void sort_falling(const double* score, std::size_t n, Scratch& scratch, Order& order) {
    scratch.keys.resize(n);
    if (n > 0) {
        const auto [low, high] = std::minmax_element(score, score + n);
        const Quantiser key(*low, *high);
        for (std::size_t i = 0; i < n; ++i) scratch.keys[i] = key(score[i], i);
    }
    sort_keys(score, scratch, order);
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

void ScoreHistogram::sort_from(std::size_t lowest, const double* score, Scratch& scratch, Order& order) const {
    const std::size_t n = lowest == 0 ? bin_of_.size() : above_[lowest - 1];
    const double low = floor_ + (static_cast<double>(lowest) - 1.5) / (bins - 1) * (ceiling_ - floor_);
    const Quantiser key(low, ceiling_);
    scratch.keys.resize(n);
    std::size_t kept = 0;
    for (std::size_t i = 0; kept < n; ++i) {  // no branch: write always, advance only past the kept
        scratch.keys[kept] = key(score[i], i);
        kept += static_cast<std::size_t>(bin_of_[i] >= lowest);
    }
    sort_keys(score, scratch, order);
}

}  // namespace rankcut
