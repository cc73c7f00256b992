// Sorting scores, and not sorting those that cannot matter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankcut {

// Buffers that one thread reuses from call to call; they grow to the largest list seen.
struct Scratch {
    std::vector<std::uint64_t> keys, swap;  // keys: (quantised score, position) of the sorted entries
    std::vector<std::uint16_t> bin_of;      // the negatives' bins in the histogram of their scores
    std::vector<std::uint32_t> candidates;  // positions of the negatives that may matter, as they come
    std::vector<std::uint32_t> positives;   // positions of the positives, best first
    std::vector<std::uint32_t> negatives;   // positions of the negatives that may matter, best first
    std::vector<double> top;                // scores of the sorted positives
    std::vector<std::size_t> above;         // a_k: how many negatives are placed above positive k
    std::vector<double> work;
};

// Writes the positions `chosen` (all of 0…n-1 when `chosen` is null), sorted by falling score, to `order`.
// Equal scores keep the order in which they are given, so that results never depend on the algorithm.
void sort_falling(const double* score, const std::uint32_t* chosen, std::size_t n, Scratch& scratch,
                  std::vector<std::uint32_t>& order);

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
    // Positions of all scores in `lowest` or a higher bin, in their given order.
    void collect(std::size_t lowest, std::vector<std::uint32_t>& chosen) const;

  private:
    double floor_, ceiling_;
    const std::vector<std::uint16_t>& bin_of_;
    std::vector<std::size_t> above_;
};

}  // namespace rankcut
