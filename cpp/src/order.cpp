#include "rankcut/loss/order.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace rankcut {
namespace {

constexpr std::size_t radix_from = 48;  // below this a comparison sort of the keys is faster
constexpr std::size_t few = 16;         // up to here insertion is faster than merging

// Bits of a digit: two of them order all scores but close neighbours.
unsigned digit_for(std::size_t n) { return n < 4096 ? 8 : 12; }

// Keys hold a score, quantised to two digits of the range [low, high] so that the best come first, above the
// position. Quantising keeps the order, though not strictly.
class Quantiser {
  public:
    Quantiser(double low, double high, unsigned digit)
        : finest_(static_cast<double>((std::uint64_t{1} << (2 * digit)) - 1)), high_(high), width_(high - low),
          unit_(finest_ / width_) {
        steep_ = !(unit_ <= 1e300);  // a range so small, or empty, that its inverse overflows
    }
    std::uint64_t operator()(double score, std::size_t position) const {
        double x = 0.0;
        if (!steep_) {
            x = (high_ - score) * unit_;
        } else if (width_ > 0) {
            x = (high_ - score) / width_ * finest_;
        }
        return (static_cast<std::uint64_t>(std::min(x, finest_)) << 32) | position;
    }

  private:
    double finest_, high_, width_, unit_;
    bool steep_;
};

// Sorts by the quantised score, least significant digit first; stable.
void radix_sort(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& swap, unsigned digit) {
    const std::size_t digits = std::size_t{1} << digit;
    std::array<std::array<std::uint32_t, 4096>, 2> count;
    for (auto& each : count) std::fill_n(each.begin(), digits, 0U);
    for (const std::uint64_t key : keys) {
        ++count[0][(key >> 32) & (digits - 1)];
        ++count[1][key >> (32 + digit)];
    }
    swap.resize(keys.size());
    for (unsigned d = 0; d < 2; ++d) {
        const unsigned shift = 32 + d * digit;
        if (count[d][(keys[0] >> shift) & (digits - 1)] == keys.size()) continue;  // one digit for all
        std::uint32_t sum = 0;
        for (std::size_t v = 0; v < digits; ++v) sum += std::exchange(count[d][v], sum);
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

}  // namespace

void Order::clear() {
    position_.clear();
    start_.assign(1, 0);
    sorted_.clear();
    ties_.clear();
}

void Order::sort_all(const double* score, std::size_t n, Scratch& scratch) {
    position_.resize(n);
    std::iota(position_.begin(), position_.end(), 0U);
    sort_given(score, scratch);
}

void Order::sort_some(const double* score, std::vector<std::uint32_t> positions, Scratch& scratch) {
    position_ = std::move(positions);
    std::sort(position_.begin(), position_.end());  // equal scores stay in the order of their positions
    sort_given(score, scratch);
}

void Order::sort_given(const double* score, Scratch& scratch) {
    score_ = score;
    start_ = {0, position_.size()};
    sorted_.assign(1, 0);
    ties_.clear();
    if (!position_.empty()) sort_group(0, scratch);
}

double Order::score_at(std::size_t rank, Scratch& scratch) {
    const auto after = std::upper_bound(start_.begin(), start_.end(), rank);
    const auto group = static_cast<std::size_t>(after - start_.begin()) - 1;
    if (!sorted_[group]) sort_group(group, scratch);
    return score_[position_[rank]];
}

void Order::sort_group(std::size_t group, Scratch& scratch) {
    sorted_[group] = 1;
    const std::size_t begin = start_[group], n = start_[group + 1] - begin;
    std::uint32_t* const position = position_.data() + begin;
    double low = score_[position[0]], high = low;
    for (std::size_t i = 1; i < n; ++i) {
        low = std::min(low, score_[position[i]]);
        high = std::max(high, score_[position[i]]);
    }
    const unsigned digit = digit_for(n);
    const Quantiser key(low, high, digit);
    auto& keys = scratch.keys;
    keys.resize(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = key(score_[position[i]], position[i]);
    if (n < radix_from) {
        std::sort(keys.begin(), keys.end());  // positions rise within a group, so this is stable too
    } else {
        radix_sort(keys, scratch.swap, digit);
    }
    // Keys that share a quantised score are put in order by the score itself; equal scores are noted as ties.
    const auto of = [this](std::uint64_t k) { return score_[static_cast<std::uint32_t>(k)]; };
    const auto falls = [&](std::uint64_t a, std::uint64_t b) { return of(a) > of(b); };
    for (std::size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && (keys[end] >> 32) == (keys[i] >> 32);) ++end;
        if (end - i < 2) continue;
        const auto first = keys.begin() + static_cast<std::ptrdiff_t>(i);
        const auto last = keys.begin() + static_cast<std::ptrdiff_t>(end);
        if (end - i <= few) {
            insert_sorted(first, last, falls);
        } else if (!std::is_sorted(first, last, falls)) {
            std::stable_sort(first, last, falls);
        }
        for (std::size_t j = i, tie; j < end; j = tie) {
            for (tie = j + 1; tie < end && of(keys[tie]) == of(keys[j]);) ++tie;
            if (tie - j > 1) ties_.emplace_back(begin + j, begin + tie);
        }
    }
    for (std::size_t i = 0; i < n; ++i) position[i] = static_cast<std::uint32_t>(keys[i]);
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

void ScoreHistogram::group(std::size_t lowest, const double* score, Order& order) const {
    const std::size_t n = lowest == 0 ? bin_of_.size() : above_[lowest - 1];
    order.clear();
    order.score_ = score;
    order.position_.resize(n + 1);
    std::array<std::size_t, bins> next;
    next.fill(n);  // the others all go to a place behind the end
    for (std::size_t bin = bins; bin-- > lowest;) {
        next[bin] = above_[bin];
        const std::size_t end = bin == 0 ? n : above_[bin - 1];
        if (end > above_[bin]) order.start_.push_back(end);
    }
    for (std::size_t i = 0; i < bin_of_.size(); ++i) {  // no branch: write always, advance only for the kept
        const std::size_t bin = bin_of_[i];
        order.position_[next[bin]] = static_cast<std::uint32_t>(i);
        next[bin] += static_cast<std::size_t>(bin >= lowest);
    }
    order.position_.resize(n);
    order.sorted_.assign(order.start_.size() - 1, 0);
}

}  // namespace rankcut
