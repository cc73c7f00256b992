// Sorting scores, and not sorting those that cannot matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace rankcut {

// Positions sorted by falling score, and the runs [first, second) of equal scores among them.
struct Order {
    std::vector<std::uint32_t> position;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ties;

    std::size_t size() const { return position.size(); }
    std::uint32_t operator[](std::size_t i) const { return position[i]; }
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

// Sorts scores 0…n-1 by falling score. Equal scores keep the order in which they are given, so that results
// never depend on the algorithm.
void sort_falling(const double* score, std::size_t n, Scratch& scratch, Order& order);

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
    // Sorts the scores in `lowest` and higher bins.
    void sort_from(std::size_t lowest, const double* score, Scratch& scratch, Order& order) const;

  private:
    double floor_, ceiling_;
    const std::vector<std::uint16_t>& bin_of_;
    std::vector<std::size_t> above_;
};

}  // namespace rankcut
