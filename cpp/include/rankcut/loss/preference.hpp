// Preferences between samples of different y: over the pairs y_i > y_j of a graph, the mean of
//
//     (y_i − y_j) max(0, 1 − (z_i − z_j))      slack rescaling
//     max(0, (y_i − y_j) − (z_i − z_j))        margin rescaling
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "rankcut/loss/order.hpp"
#include "rankcut/loss/preference_tree.hpp"
#include "rankcut/loss/risk.hpp"

namespace rankcut {

enum class Rescaling { slack, margin };

class PreferenceRisk final : public Risk {
  public:
    // List l has its samples in [offsets[l], offsets[l+1]), y falling. Its pairs are those of different y if above[l] is
    // 0, else those of its first above[l] samples with the others, whose y has to be smaller. The risk is the sum over
    // lists of share · (mean over pairs).
    PreferenceRisk(std::vector<std::size_t> offsets, std::vector<double> y, std::vector<std::size_t> above,
                   Rescaling rescaling, double share);
    double evaluate(const double* z, double* alpha, int n_threads) override;
    // Slack: how many units of y cross the hinge's kink when a score moves, by two evaluations beside it. Margin: how
    // many samples lie around z − y.
    void curvature(const double* z, const double* alpha, double* weight, int n_threads) override;

  protected:
    std::vector<Part> parts() const override { return {}; }

  private:
    struct One {  // list
        std::size_t begin, n, above;
        double centre;  // of y
        double scale;   // share / number of pairs
        bool distinct;  // no two samples of it are in one group
    };
    struct Work {  // what one thread needs at a time
        Sorter sort;
        Order order;
        Buffer<double> score;            // by rank, or z − y
        Buffer<std::uint32_t> ranked;    // places by falling z − y
        std::vector<std::uint32_t> seen; // of each group
        PreferenceTree tree;
    };

    template <class Task>
    void each_list(int n_threads, Task&& task);
    void rank(const One& list, const double* z, double kink, Work& work, int n_threads) const;
    void rank_shifted(const One& list, const double* z, Work& work) const;
    double slack(const One& list, const double* z, double* alpha, Work& work, int n_threads) const;
    double margin(const One& list, const double* z, double* alpha, Work& work) const;
    void slack_curvature(const One& list, const double* z, double* weight, Work& work, int n_threads) const;
    void margin_curvature(const One& list, const double* z, double* weight, Work& work) const;

    Rescaling rescaling_;
    std::vector<double> y_;
    std::vector<std::uint32_t> group_end_;  // margin: where the group of samples without pairs among them ends
    std::vector<One> lists_;
    std::vector<std::size_t> batches_;  // of lists, for threads
    std::vector<double> deltas_;
    std::vector<Work> work_;  // one for each batch
};

}  // namespace rankcut
