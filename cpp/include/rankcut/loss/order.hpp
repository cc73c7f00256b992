// Sorting scores, and not sorting those that cannot matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rankcut {

struct Scratch;

// Positions of scores by falling score, sorted only as far as somebody looks: groups are in order, and a group
// is sorted on the first look into it. Equal scores keep the order in which they are given, so that results
// never depend on the algorithm.
class Order {
  public:
    std::size_t size() const { return position_.size(); }
    std::uint32_t operator[](std::size_t rank) const { return position_[rank]; }
    // The score at a rank, in its final place.
    double score_at(std::size_t rank, Scratch& scratch);
    // Runs [first, second) of equal scores in the groups that are sorted, in no particular order.
    const std::vector<std::pair<std::size_t, std::size_t>>& ties() const { return ties_; }

    void clear();
    // All of score[0…n-1], or those at the given positions, sorted at once.
    void sort_all(const double* score, std::size_t n, Scratch& scratch);
    void sort_some(const double* score, std::vector<std::uint32_t> positions, Scratch& scratch);

  private:
    friend class ScoreHistogram;
    void sort_given(const double* score, Scratch& scratch);
    void sort_group(std::size_t group, Scratch& scratch);

    const double* score_ = nullptr;
    std::vector<std::uint32_t> position_;
    std::vector<std::size_t> start_;  // of each group, and the end
    std::vector<char> sorted_;        // whether the group is
    std::vector<std::pair<std::size_t, std::size_t>> ties_;
};

// Buffers that one thread reuses from call to call; they grow to the largest list seen.
struct Scratch {
    std::vector<std::uint64_t> keys, swap;  // (quantised score, position) of the entries that are sorted
    std::vector<std::uint16_t> bin_of;      // the negatives' bins in the histogram of their scores
    Order positives;                        // the positives, best first
    Order negatives;                        // the negatives that may matter, best first
    std::vector<double> top;                // scores of the sorted positives
    std::vector<std::size_t> above;         // a_k: how many negatives are placed above positive k
};

// A histogram of scores above a floor, to find how many of the best could matter without sorting them.
class ScoreHistogram {
  public:
    static constexpr std::size_t bins = 2048;

    // `floor` < `ceiling` = the largest score. `bin_of` keeps each score's bin; 0 is for those up to the floor.
    ScoreHistogram(const double* score, std::size_t n, double floor, double ceiling,
                   std::vector<std::uint16_t>& bin_of);

    // The number of scores in bins above `bin`: every score in `bin` has at least this rank (from 0).
    std::size_t above(std::size_t bin) const { return above_[bin]; }
    // No score in `bin` or below it is larger than this (half a bin is left for rounding).
    double upper_edge(std::size_t bin) const {
        return floor_ + (static_cast<double>(bin) + 0.5) / (bins - 1) * (ceiling_ - floor_);
    }
    // The scores in `lowest` and higher bins, grouped by bin.
    void group(std::size_t lowest, const double* score, Order& order) const;

  private:
    double floor_, ceiling_;
    const std::vector<std::uint16_t>& bin_of_;
    std::vector<std::size_t> above_;
};

}  // namespace rankcut
