// The staircase oracle (DESIGN §3): the most violated ranking of every loss of the form
//
//     R = max over a_1 ≤ … ≤ a_P of  Σ_k F_k(a_k),   F_k(a) = φ_k(a) − 2/(PN) Σ_{j≤a} (s_k − t_j)
//
// for positives s_1 ≥ … ≥ s_P and negatives t_1 ≥ … ≥ t_N, with φ_k concave. Divide and conquer over
// the value of a: if the positives [begin, end) have a in [low, high], then for m = ⌈(low+high)/2⌉ those
// with a_k ≥ m are the suffix that maximises Σ f_k(m), f_k(m) = F_k(m) − F_k(m−1). Each positive is
// looked at once per level: O(P log N) after sorting.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>

#include "rankcut/loss/gain.hpp"
#include "rankcut/loss/loss.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {

// Turns the staircase a_1 ≤ … ≤ a_P in `scratch` into weights: α = −2a_k/(PN) on positive k, and on each
// negative 2/(PN) for every positive that it is placed above. Samples with equal scores share their weights:
// their order is arbitrary, and the mean over all their orders is as violated and a better direction.
void staircase_weights(const List& list, Scratch& scratch, double* alpha_positive, double* alpha_negative);

// How many positives the staircase in `scratch` places above each negative.
void staircase_ranks(const List& list, const Scratch& scratch, std::int64_t* ranks);

template <class Gain>
class Staircase {
  public:
    Staircase(const List& list, const Gain& gain, Scratch& scratch)
        : list_(list), gain_(gain), scratch_(scratch),
          half_pairs_(0.5 * static_cast<double>(list.P) * static_cast<double>(list.N)) {}

    // Fills scratch.positives, scratch.negatives and scratch.above; returns Δ.
    double solve() {
        scratch_.positives.sort_all(list_.positive, list_.P, scratch_.of_positives);
        scratch_.top.resize(list_.P);
        for (std::size_t k = 0; k < list_.P; ++k) scratch_.top[k] = list_.positive[scratch_.positives[k]];
        find_candidates();
        scratch_.above.assign(list_.P, 0);
        search();
        double delta = 0.0;
        for (std::size_t k = 0; k < list_.P; ++k)
            delta += gain_.total(static_cast<double>(k + 1), static_cast<double>(scratch_.above[k]));
        return delta;
    }

  private:
    static constexpr std::size_t few = 128;  // a list this short is simply sorted

    // f_{first+i+1}(m) + s − t for the n ≤ block positives from `first` on, times PN/2.
    static constexpr std::size_t block = 8;
    template <class Take>
    void steps(std::size_t first, std::size_t n, std::size_t m, Take&& take) const {
        const auto k = static_cast<double>(first + 1), a = static_cast<double>(m);
        if (n == block) {  // a length that the compiler knows
            for (std::size_t i = 0; i < block; ++i) take(i, half_pairs_ * gain_.step(k + static_cast<double>(i), a));
        } else {
            for (std::size_t i = 0; i < n; ++i) take(i, half_pairs_ * gain_.step(k + static_cast<double>(i), a));
        }
    }

    // The m-th best negative can be above a positive only if its score exceeds this; rises with m.
    double threshold(std::size_t m) const {
        std::array<double, block> least;  // side by side, so that the compiler may use vectors
        least.fill(std::numeric_limits<double>::infinity());
        for (std::size_t k = 0; k < list_.P; k += block) {
            const double* s = scratch_.top.data() + k;
            steps(k, std::min(block, list_.P - k), m, [&](std::size_t i, double step) {
                const double x = s[i] - step;
                least[i] = x < least[i] ? x : least[i];
            });
        }
        return *std::min_element(least.begin(), least.end());
    }

    // Finds and groups the negatives that could be above a positive. The m-th best is t_m ≤ threshold(m) from some m
    // on; a histogram bounds t_m from above, so the bins below that m are left out. Within the
    // others, only those that `split` looks into are ever sorted.
    void find_candidates() {
        const double* t = list_.negative;
        auto& chosen = scratch_.negatives;
        for (Sorter& sorter : scratch_.of_negatives) sorter.ties.clear();
        if (list_.N <= few) {
            chosen.sort_all(t, list_.N, scratch_.of_negatives[0]);
            return;
        }
        const double needed = threshold(1);
        auto [lowest, ceiling] = rough_range(t, list_.N);
        if (ceiling <= std::max(needed, lowest)) std::tie(lowest, ceiling) = range(t, list_.N);
        const double floor = std::max(needed, lowest);
        chosen.clear();
        if (ceiling < floor) return;
        if (ceiling == floor) {  // all of them are equal
            chosen.sort_all(t, list_.N, scratch_.of_negatives[0]);
            return;
        }
        auto& histogram = scratch_.histogram;
        histogram.fill(t, list_.N, floor, ceiling, scratch_.n_threads);
        // The lowest bin that may matter is in [low, high]. A look costs about as much as a few negatives each
        // positive: it ends when that is more than grouping the negatives in question.
        std::size_t low = needed >= lowest ? 1 : 0, high = histogram.bins() - 1;
        while (low < high && histogram.from(low) - histogram.from(high) > list_.P / 2) {
            const std::size_t bin = (low + high) / 2;
            if (histogram.upper_edge(bin) > threshold(histogram.above(bin) + 1)) {
                high = bin;
            } else {
                low = bin + 1;
            }
        }
        chosen.group(histogram, low, t);
    }

    // The positives [begin, end), known to have a in [low, high].
    struct Span {
        std::size_t begin, end, low, high;
    };

    // Finds all a_k. Long lists are split a few times, and threads share the parts: these ask for different ranks,
    // and the groups that two of them may look into are sorted before.
    void search() {
        constexpr int times = 6;
        const Span all{0, list_.P, 0, scratch_.negatives.size()};
        auto& sorters = scratch_.of_negatives;
        if (scratch_.n_threads < 2 || list_.N < worth_a_thread) return split(all, sorters[0]);
        std::vector<Span> spans{all}, halves;
        for (int i = 0; i < times; ++i, spans.swap(halves)) {
            halves.clear();
            for (const Span& span : spans) {
                if (!(span.begin < span.end && span.low < span.high)) {
                    halves.push_back(span);
                    continue;
                }
                const std::size_t m = middle(span), cut = best_suffix(span.begin, span.end, m, sorters[0]);
                halves.push_back({span.begin, cut, span.low, m - 1});
                halves.push_back({cut, span.end, m, span.high});
            }
        }
        for (const Span& span : spans) {
            if (!(span.low < span.high)) continue;
            scratch_.negatives.score_at(span.low, sorters[0]);
            scratch_.negatives.score_at(span.high - 1, sorters[0]);
        }
        const auto workers = static_cast<std::size_t>(scratch_.n_threads);
        if (sorters.size() <= workers) sorters.resize(workers + 1);
        std::atomic<std::size_t> next{0};
        parallel_for(workers, scratch_.n_threads, [&](std::size_t worker) {
            for (std::size_t i = next.fetch_add(1); i < spans.size(); i = next.fetch_add(1))
                split(spans[i], sorters[worker + 1]);
        });
    }

    static std::size_t middle(const Span& span) { return (span.low + span.high + 1) / 2; }

    void split(Span span, Sorter& sorter) {
        auto& [begin, end, low, high] = span;
        while (begin < end && low < high) {
            const std::size_t m = middle(span);
            const std::size_t cut = best_suffix(begin, end, m, sorter);
            split({cut, end, m, high}, sorter);
            end = cut;
            high = m - 1;
        }
        std::fill(scratch_.above.begin() + static_cast<std::ptrdiff_t>(begin),
                  scratch_.above.begin() + static_cast<std::ptrdiff_t>(end), low);
    }

    // The start of the shortest suffix of [begin, end) with the largest Σ f_k(m), times PN/2. Blocks are summed by
    // themselves first: no sum waits for that of the block before.
    std::size_t best_suffix(std::size_t begin, std::size_t end, std::size_t m, Sorter& sorter) {
        const double t = scratch_.negatives.score_at(m - 1, sorter);
        std::array<double, block> f;
        const auto fill = [&](std::size_t first, std::size_t n) {
            const double* s = scratch_.top.data() + first;
            steps(first, n, m, [&](std::size_t i, double step) { f[i] = step - (s[i] - t); });
        };
        if (end - begin == 1) {
            fill(begin, 1);
            return f[0] > 0.0 ? begin : end;
        }
        double sum = 0.0, best = 0.0;
        std::size_t found = end, last = end;  // the block [found, last) in which the suffix starts
        for (std::size_t stop = end, first; stop > begin; stop = first) {
            first = stop - std::min(block, stop - begin);
            fill(first, stop - first);
            double inner = 0.0, most = -std::numeric_limits<double>::infinity();
            for (std::size_t i = stop - first; i-- > 0;) {
                inner += f[i];
                most = inner > most ? inner : most;
            }
            if (sum + most > best) {
                best = sum + most;
                found = first;
                last = stop;
            }
            sum += inner;
        }
        fill(found, last - found);
        std::size_t start = last;
        double inner = 0.0, most = -std::numeric_limits<double>::infinity();
        for (std::size_t i = last; i-- > found;) {
            inner += f[i - found];
            if (inner > most) {
                most = inner;
                start = i;
            }
        }
        return start;
    }

    const List& list_;
    const Gain gain_;
    Scratch& scratch_;
    double half_pairs_;
};

template <class Gain>
class StaircaseLoss final : public ListLoss {
  public:
    StaircaseLoss() = default;
    explicit StaircaseLoss(std::size_t longest) : table_(longest) {}

    double most_violated(const List& list, double* alpha_positive, double* alpha_negative,
                         Scratch& scratch) const override {
        const Gain gain = make_gain(list);
        const double delta = Staircase<Gain>(list, gain, scratch).solve();
        staircase_weights(list, scratch, alpha_positive, alpha_negative);
        return delta;
    }

  private:
    struct Nothing {
        Nothing() = default;
        explicit Nothing(std::size_t) {}
    };
    static constexpr bool discounted = std::is_same_v<Gain, NdcgGain>;

    Gain make_gain(const List& list) const {
        if constexpr (discounted) {
            return Gain(list.P, list.N, table_);
        } else {
            return Gain(list.P, list.N);
        }
    }
    std::conditional_t<discounted, Discounts, Nothing> table_;
};

}  // namespace rankcut
