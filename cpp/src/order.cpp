#include "rankcut/loss/order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <utility>

#include "rankcut/threads.hpp"

namespace rankcut {
namespace {

constexpr std::size_t radix_from = 96;  // below this a comparison sort of the keys is faster
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
void radix_sort(Buffer<std::uint64_t>& keys, Buffer<std::uint64_t>& swap, unsigned digit) {
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

std::pair<double, double> range(const double* score, std::size_t n) {
    constexpr std::size_t lanes = 16;  // side by side, so that the compiler may use vectors
    std::array<double, lanes> low, high;
    low.fill(score[0]);
    high.fill(score[0]);
    std::size_t i = 0;
    for (; i + lanes <= n; i += lanes)
        for (std::size_t k = 0; k < lanes; ++k) {
            const double x = score[i + k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = high[k] < x ? x : high[k];
        }
    for (; i < n; ++i) {
        low[0] = std::min(low[0], score[i]);
        high[0] = std::max(high[0], score[i]);
    }
    return {*std::min_element(low.begin(), low.end()), *std::max_element(high.begin(), high.end())};
}

std::pair<double, double> rough_range(const double* score, std::size_t n) {
    constexpr std::size_t run = 128, every = 16 * run;
    if (n < worth_a_thread) return range(score, n);
    auto found = range(score, run);
    for (std::size_t i = every; i + run <= n; i += every) {
        const auto [low, high] = range(score + i, run);
        found = {std::min(found.first, low), std::max(found.second, high)};
    }
    return found;
}

void ScoreHistogram::fill(const double* score, std::size_t n, double floor, double ceiling, int n_threads) {
    constexpr std::size_t least = 64, most = 8192, block = 2048;
    const std::size_t n_bins = std::clamp(std::bit_ceil(n / 4), least, most);
    floor_ = floor;
    ceiling_ = ceiling;
    shares_ = n < worth_a_thread ? 1 : static_cast<std::size_t>(std::clamp(n_threads, 1, 16));
    bin_of_.resize(n);
    above_.resize(n_bins);
    places_.assign(shares_ * n_bins, 0);
    const auto last = static_cast<double>(n_bins - 1);
    const double width = ceiling - floor, unit = last / width;
    const bool steep = unit > 1e300;  // a range so small that its inverse overflows
    parallel_for(shares_, n_threads, [&](std::size_t share) {
        std::uint32_t* const count = places_.data() + share * n_bins;
        const std::size_t end = border(share + 1);
        for (std::size_t first = border(share); first < end; first += block) {
            const std::size_t stop = std::min(end, first + block);
            for (std::size_t i = first; i < stop; ++i) {  // bin 1 starts at the floor; no branches: it vectorises
                const double x = steep ? (score[i] - floor) / width * last : (score[i] - floor) * unit;
                const auto bin = static_cast<std::int32_t>(std::min(std::max(x + 1.0, 0.0), last));
                bin_of_[i] = static_cast<std::uint16_t>(bin);
            }
            for (std::size_t i = first; i < stop; ++i) ++count[bin_of_[i]];
        }
    });
    std::uint32_t rank = 0;
    for (std::size_t bin = n_bins; bin-- > 0;) {
        above_[bin] = rank;
        for (std::size_t share = 0; share < shares_; ++share) {
            std::uint32_t& place = places_[share * n_bins + bin];
            rank += std::exchange(place, rank);
        }
    }
}

void ScoreHistogram::group(std::size_t lowest, Buffer<std::uint32_t>& position) {
    const std::size_t n = from(lowest);
    position.resize(n + shares_);
    parallel_for(shares_, static_cast<int>(shares_), [&](std::size_t share) {
        std::uint32_t* const next = places_.data() + share * bins();
        std::fill(next, next + lowest, static_cast<std::uint32_t>(n + share));  // behind the end
        const std::size_t end = border(share + 1);
        for (std::size_t i = border(share); i < end; ++i) {  // no branch: write always, advance only for the kept
            const std::size_t bin = bin_of_[i];
            position[next[bin]] = static_cast<std::uint32_t>(i);
            next[bin] += static_cast<std::uint32_t>(bin >= lowest);
        }
    });
    position.resize(n);
}

void ScoreHistogram::spread(const Buffer<double>& table, double* out, int n_threads) const {
    const auto shares = static_cast<std::size_t>(size() < worth_a_thread ? 1 : std::max(1, n_threads));
    parallel_for(shares, n_threads, [&](std::size_t share) {
        const std::size_t end = size() * (share + 1) / shares;
        for (std::size_t i = size() * share / shares; i < end; ++i) out[i] = table[bin_of_[i]];
    });
}

void Order::clear() {
    groups_ = nullptr;
    position_.clear();
}

void Order::sort_all(const double* score, std::size_t n, Sorter& sorter) {
    position_.resize(n);
    std::iota(position_.begin(), position_.end(), 0U);
    sort_given(score, sorter);
}

void Order::sort_some(const double* score, const std::vector<std::uint32_t>& positions, Sorter& sorter) {
    position_.assign(positions.begin(), positions.end());
    std::sort(position_.begin(), position_.end());  // equal scores stay in the order of their positions
    sort_given(score, sorter);
}

void Order::sort_given(const double* score, Sorter& sorter) {
    score_ = score;
    groups_ = nullptr;
    sorter.ties.clear();
    sort(0, position_.size(), sorter);
}

void Order::group(ScoreHistogram& histogram, std::size_t lowest, const double* score) {
    score_ = score;
    groups_ = &histogram;
    lowest_ = lowest;
    sorted_.assign(histogram.bins(), 0);
    histogram.group(lowest, position_);
}

void Order::sort_bin(std::size_t bin, Sorter& sorter) {
    sorted_[bin] = 1;
    sort(groups_->above(bin), groups_->from(bin), sorter);
}

// A score's place is the number of those before it. Counting them takes no branches, which would be guessed wrong
// half of the time.
void Order::sort_few(std::size_t begin, std::size_t end, Sorter& sorter) {
    const std::size_t n = end - begin;
    if (n < 2) return;
    std::array<std::uint32_t, few> position, place{};
    std::array<double, few> score;
    for (std::size_t i = 0; i < n; ++i) {
        position[i] = position_[begin + i];
        score[i] = score_[position[i]];
    }
    bool tied = false;
    for (std::size_t i = 1; i < n; ++i) {
        std::uint32_t before = 0;
        for (std::size_t j = 0; j < i; ++j) {
            const bool stays = score[j] >= score[i];
            tied |= score[j] == score[i];
            before += stays;
            place[j] += !stays;
        }
        place[i] = before;
    }
    for (std::size_t i = 0; i < n; ++i) position_[begin + place[i]] = position[i];
    if (!tied) return;
    for (std::size_t i = begin, tie; i < end; i = tie) {
        for (tie = i + 1; tie < end && score_[position_[tie]] == score_[position_[i]];) ++tie;
        if (tie - i > 1) sorter.ties.emplace_back(i, tie);
    }
}

void Order::sort(std::size_t begin, std::size_t stop, Sorter& sorter) {
    const std::size_t n = stop - begin;
    if (n <= few) return sort_few(begin, stop, sorter);
    std::uint32_t* const position = position_.data() + begin;
    double low = score_[position[0]], high = low;
    for (std::size_t i = 1; i < n; ++i) {
        low = std::min(low, score_[position[i]]);
        high = std::max(high, score_[position[i]]);
    }
    const unsigned digit = digit_for(n);
    const Quantiser key(low, high, digit);
    auto& keys = sorter.keys;
    keys.resize(n);
    for (std::size_t i = 0; i < n; ++i) keys[i] = key(score_[position[i]], position[i]);
    if (n < radix_from) {
        std::sort(keys.begin(), keys.end());  // positions rise within a group, so this is stable too
    } else {
        radix_sort(keys, sorter.swap, digit);
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
            if (tie - j > 1) sorter.ties.emplace_back(begin + j, begin + tie);
        }
    }
    for (std::size_t i = 0; i < n; ++i) position[i] = static_cast<std::uint32_t>(keys[i]);
}

}  // namespace rankcut
