// Sorting scores, and not sorting those that cannot matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "rankcut/buffer.hpp"

namespace rankcut {

// Buffers of one thread that sorts, and the ties it has found.
struct Sorter {
    Buffer<std::uint64_t> keys, swap;                       // (quantised score, position) of the entries that are sorted
    std::vector<std::pair<std::size_t, std::size_t>> ties;  // runs [first, second) of equal scores, in no order
};

// The smallest and the largest of n ≥ 1 scores, in a sample of them if they are very many.
std::pair<double, double> rough_range(const double* score, std::size_t n);
// … of all of them.
std::pair<double, double> range(const double* score, std::size_t n);

// A histogram of scores, to find how many of the best could matter without sorting them, and to group them. Its
// bins are so many that a group holds a few scores, unless they crowd. Its buffers are used again.
class ScoreHistogram {
  public:
    // `floor` < `ceiling`: bin 0 is for scores up to about `floor`, the last for those from `ceiling` on.
    void fill(const double* score, std::size_t n, double floor, double ceiling, int n_threads);

    std::size_t size() const { return bin_of_.size(); }
    std::size_t bins() const { return above_.size(); }
    std::size_t bin_of(std::size_t position) const { return bin_of_[position]; }
    // The number of scores in bins above `bin`: every score in `bin` has at least this rank (from 0).
    std::size_t above(std::size_t bin) const { return above_[bin]; }
    // The number of scores in `bin` and those above.
    std::size_t from(std::size_t bin) const { return bin == 0 ? size() : above_[bin - 1]; }
    // No score in `bin` or below it is larger than this (half a bin is left for rounding).
    double upper_edge(std::size_t bin) const {
        const auto last = static_cast<double>(bins() - 1);
        return bin + 1 < bins() ? floor_ + (static_cast<double>(bin) + 0.5) / last * (ceiling_ - floor_)
                                : std::numeric_limits<double>::infinity();
    }
    // Positions of the scores in `lowest` and higher bins, by falling bin; rising within a bin. Call it once.
    void group(std::size_t lowest, Buffer<std::uint32_t>& position);
    // Writes table[bin] to the place of each score.
    void spread(const Buffer<double>& table, double* out, int n_threads) const;

  private:
    double floor_ = 0.0, ceiling_ = 0.0;
    std::size_t shares_ = 1;            // of the scores, one for each thread
    Buffer<std::uint16_t> bin_of_;
    std::vector<std::uint32_t> above_;
    std::vector<std::uint32_t> places_;  // by share and bin: where in the order the next score goes

    std::size_t border(std::size_t share) const { return size() * share / shares_; }
};

// Positions of scores by falling score, sorted only as far as somebody looks: groups are in order, and a group
// is sorted on the first look into it. Equal scores keep the order in which they are given, so that results
// never depend on the algorithm.
class Order {
  public:
    std::size_t size() const { return position_.size(); }
    std::uint32_t operator[](std::size_t rank) const { return position_[rank]; }
    // The score at a rank, in its final place. Threads may look at the same time, but not into the same group
    // unless it is sorted.
    double score_at(std::size_t rank, Sorter& sorter) {
        if (groups_ != nullptr) {
            const std::size_t bin = groups_->bin_of(position_[rank]);
            if (!sorted_[bin]) sort_bin(bin, sorter);
        }
        return score_[position_[rank]];
    }
    // Whose bins from `lowest` on are the groups; null if all is sorted.
    const ScoreHistogram* groups() const { return groups_; }
    std::size_t lowest() const { return lowest_; }

    void clear();
    // All of score[0…n-1], or those at the given positions, sorted at once. The sorter's ties are then of this order.
    void sort_all(const double* score, std::size_t n, Sorter& sorter);
    void sort_some(const double* score, const std::vector<std::uint32_t>& positions, Sorter& sorter);
    // Those in `lowest` and higher bins, in groups.
    void group(ScoreHistogram& histogram, std::size_t lowest, const double* score);

  private:
    void sort_given(const double* score, Sorter& sorter);
    void sort_bin(std::size_t bin, Sorter& sorter);
    void sort(std::size_t begin, std::size_t end, Sorter& sorter);
    void sort_few(std::size_t begin, std::size_t end, Sorter& sorter);

    const double* score_ = nullptr;
    const ScoreHistogram* groups_ = nullptr;
    std::size_t lowest_ = 0;
    Buffer<std::uint32_t> position_;
    std::vector<char> sorted_;  // whether the group of a bin is
};

// What the oracles reuse from call to call; it grows to the largest list seen.
struct Scratch {
    int n_threads = 1;                 // that may work on one list; the result does not depend on it
    Sorter of_positives;               // sorts the positives
    std::vector<Sorter> of_negatives;  // sort the negatives, the first of them unless several threads do
    ScoreHistogram histogram;          // of the negatives
    Order positives;                   // the positives, best first
    Order negatives;                   // the negatives that may matter, best first
    std::vector<double> top;           // scores of the sorted positives
    std::vector<std::size_t> above;    // a_k: how many negatives are placed above positive k
    Buffer<double> weight_of_bin;      // of the negatives in a bin that is not parted

    Scratch() : of_negatives(1) {}
};

}  // namespace rankcut
