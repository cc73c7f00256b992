// Bags of instances: a bag's score is its best instance's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace rankcut {

// Bag i has the instances [begin[i], end[i]), at least one. Those that `left_out` marks (it may be null) do not
// count; it leaves at least one of each bag.
struct Bags {
    const std::int64_t* begin;
    const std::int64_t* end;
    std::size_t size;
    const std::uint8_t* left_out;
};

// The largest score of each bag, and its instance: the first of equals.
void best_instances(const Bags& bags, const double* z, double* score, std::int64_t* instance, int n_threads);

// The bags' scores along z + t·direction for 0 ≤ t ≤ reach, from the few instances that can be best there. Let b be
// the best at t = 0, of equals the one that rises most. Another one, h, can be best later only if it is above b at
// the end, and somewhere not below what some instance is sure of all along:
//
//     z_h + reach·d_h  >  z_b + reach·d_b   and   max(z_h, z_h + reach·d_h)  ≥  max over k of min(z_k, z_k + reach·d_k).
//
// At t = 0 the slope is thus that to the right.
class BagLine {
  public:
    BagLine(const Bags& bags, const double* z, const double* direction, double reach, int n_threads);

    std::size_t size() const { return size_; }
    double reach() const { return reach_; }
    // How many instances are kept.
    std::size_t kept() const;
    // Each bag's score at t, and how fast it changes: the direction of the instance that is best.
    void at(double t, double* score, double* slope, int n_threads) const;

  private:
    struct Instance {
        double start, direction;
    };
    struct Batch {  // of bags that follow one another
        std::size_t first, last;
        std::vector<Instance> instances;
        std::vector<std::uint32_t> ends;  // of each bag's instances, counted in the batch
    };
    std::size_t size_;
    double reach_;
    std::vector<Batch> batches_;
};

}  // namespace rankcut
