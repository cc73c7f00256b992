// The risk of a problem in score space: what the solver's line search evaluates.
//
// Scores come compact: list after list, in each the positives before the negatives.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "rankcut/buffer.hpp"
#include "rankcut/loss/loss.hpp"

namespace rankcut {

struct LinePoint {
    double value, slope;
};

class Risk {
  public:
    explicit Risk(std::size_t size) : size_(size) {}
    Risk(const Risk&) = delete;
    Risk& operator=(const Risk&) = delete;
    virtual ~Risk() = default;

    std::size_t size() const { return size_; }
    // Writes α at z and returns Δ: the value is Δ + α·z.
    virtual double evaluate(const double* z, double* alpha, int n_threads) = 0;
    // Writes an estimate of the risk's curvature at z to `weight`: the Hessian in score space is near its
    // diagonal, less what the losses of differences do not see (the callers correct for that). α rises with
    // the score within a class of a list, so its slope over a window of neighbours is a fair estimate.
    virtual void curvature(const double* z, const double* alpha, double* weight, int n_threads);
    // The intercept that belongs to the last evaluation, for risks that choose one.
    virtual double shift() const { return 0.0; }
    // Value and slope of t ↦ R(z + t·direction). What was found there is kept until the next call:
    LinePoint line(const double* z, const double* direction, double t, int n_threads);
    // … α and Δ, as `evaluate` would give them there,
    double last(double* alpha) const;
    // … and value and slope at the beginning of another line that starts there.
    LinePoint turn(const double* direction, int n_threads) const;

  protected:
    // One class of one list, in compact order.
    struct Part {
        std::size_t begin, end;
    };
    virtual std::vector<Part> parts() const = 0;

  private:
    std::size_t size_;
    Buffer<double> point_, alpha_;
    double delta_ = 0.0, value_ = 0.0;
};

// The mean over lists of a loss.
class ListRisk final : public Risk {
  public:
    // List l has its samples in [offsets[l], offsets[l+1]), the first positives[l] of them positive.
    ListRisk(std::unique_ptr<ListLoss> loss, std::vector<std::size_t> offsets, std::vector<std::size_t> positives);
    double evaluate(const double* z, double* alpha, int n_threads) override;

  protected:
    std::vector<Part> parts() const override;

  private:
    std::unique_ptr<ListLoss> loss_;
    std::vector<std::size_t> offsets_, positives_, batches_;
    std::vector<double> deltas_;
    std::vector<Scratch> scratch_;  // one for each batch of lists
};

double dot(const double* a, const double* b, std::size_t n);

}  // namespace rankcut
