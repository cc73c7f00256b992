// Sums over the preferences that scores violate, by divide and conquer over y.
//
// A list comes with y falling; a place is a sample's index in it. Samples i before j with y_i > y_j are a preference,
// violated if z_i − z_j < 1 (or any threshold that the caller has put into `from` and `until`). The places of a node are cut
// in quarters. The preferences between quarters take one pass over the node's samples in the order of their scores: those
// violated for a sample are the ones of worse quarters among the first `until` of the node, and the ones of better
// quarters from `from` on, and prefix sums know their number and their y. The same pass parts the samples into the
// quarters, keeping their order, and tells each its two bounds there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rankcut/buffer.hpp"

namespace rankcut {

// A sample, in the order of falling scores of its node.
struct Ranked {
    std::uint32_t place;
    std::uint32_t from, until;  // all of the node before `from` score too high to matter, from `until` on too low
    double y;
    double alpha;  // Σ over its violated preferences so far of y' − y of the other sample
};

class PreferenceTree {
  public:
    Buffer<Ranked> items;  // filled by the caller, with alpha = 0

    // What a better sample gets for a violated preference: y' − y of the other, or its absolute value, which is how much
    // there is to violate for each sample.
    enum class Sum { plain, absolute };

    // Every preference of distinct y, in O(n log R) for R distinct values, or only those between places before `above`
    // and the others, in O(n). y falls. Writes α by place and returns Σ of y_i − y_j over the violated preferences.
    double all(const double* y, double* alpha, Sum kind, int n_threads);
    double between(std::size_t above, double* alpha, Sum kind, int n_threads);

  private:
    // Over the samples of a node before some point: how many lie in quarter q or a worse one, and the sum of their y.
    struct Counts {
        std::uint32_t in[4];
    };
    struct Sums {
        double of[4];
    };
    struct Before {
        Counts count;
        Sums y;
    };
    // The first places of the four quarters, some of which may be empty.
    struct Cuts {
        std::uint32_t at[4];
    };
    // A node has the places [begin, end), and its samples lie there, in one of the two buffers.
    struct Node {
        std::size_t begin, end;
        bool swapped;
    };
    struct Buffers {
        Ranked* now;
        Ranked* next;
        Counts* counts;  // n + 1 of them, and as many sums: from the start of the point's chunk
        Sums* sums;
        Before* chunks;  // all before a chunk, n / chunk + 2
    };

    static Cuts quarters(const double* y, std::size_t begin, std::size_t end);
    double split(const Buffers& at, std::size_t n, const Cuts& cuts, int n_threads) const;
    static Before tally(const Buffers& at, std::size_t first, std::size_t last, std::size_t n, const Cuts& cuts);
    static void accumulate(Before* chunks, std::size_t n_chunks);
    template <bool Chunked>
    double part(const Buffers& at, std::size_t first, std::size_t last, const Cuts& cuts, const Before& total) const;
    double subtree(Buffers at, std::size_t begin, std::size_t end, const double* y, double* alpha) const;
    bool finish(Ranked* now, std::size_t begin, std::size_t end, const double* y, double* alpha, double& delta) const;
    Buffers buffers(bool swapped);

    Buffer<Ranked> spare_;
    Buffer<Counts> counts_;
    Buffer<Sums> sums_;
    std::vector<Before> chunks_;
    double sign_ = 1.0;  // −1 for absolute sums
};

}  // namespace rankcut
