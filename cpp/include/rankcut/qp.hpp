// The small quadratic problem inside the bundle solver.
//
// Primal:  min_w  ½‖w‖² + C max_{i soft} (δ_i + g_i·w)   subject to  δ_j + g_j·w ≤ 0 for j hard.
// Dual:    max_μ  D(μ) = δᵀμ − ½ μᵀGμ,  G_ij = g_i·g_j,  μ ≥ 0,  Σ_soft μ_i = C;   w = −Σ μ_i g_i.
//
// With r = δ − Gμ (the values of the cuts at w) and ξ the largest soft one, μ is optimal when r_i = ξ
// (soft) or r_i = 0 (hard) wherever μ_i > 0, and r_j ≤ 0 for all hard j. The method is a primal active
// set: one item enters at a time, along the line that keeps these equations on the free set.
// Only products of cuts are seen, so values are exact to about eps · ‖g_i‖ Σ_j μ_j ‖g_j‖.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace rankcut {

namespace linear {

// Four sums side by side, so that they can share a vector register.
inline double dot(const double* a, const double* b, std::size_t n) {
    double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0;
    std::size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        s0 += a[i] * b[i];
        s1 += a[i + 1] * b[i + 1];
        s2 += a[i + 2] * b[i + 2];
        s3 += a[i + 3] * b[i + 3];
    }
    for (; i < n; ++i) s0 += a[i] * b[i];
    return (s0 + s1) + (s2 + s3);
}

// y ← y − factor x
inline void subtract(double factor, const double* x, double* y, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) y[i] -= factor * x[i];
}

// (x, y) ← (c x + s y, c y − s x), with c, s such that y's entry where (x, y) = (a, b) becomes 0.
inline void rotate(double a, double b, double* x, double* y, std::size_t n) {
    const double h = std::hypot(a, b);
    if (h == 0.0) return;
    const double c = a / h, s = b / h;
    for (std::size_t i = 0; i < n; ++i) {
        const double xi = x[i], yi = y[i];
        x[i] = c * xi + s * yi;
        y[i] = c * yi - s * xi;
    }
}

}  // namespace linear

// A square matrix that grows: row-major, the leading dimension doubles, spare entries are zero.
class GrowingMatrix {
public:
    double* row(std::size_t i) { return data_.data() + i * stride_; }
    const double* row(std::size_t i) const { return data_.data() + i * stride_; }
    void reserve(std::size_t size);

private:
    std::vector<double> data_;
    std::size_t stride_ = 0;
};

// The upper triangular R of RᵀR = K, where K is the Gram matrix of some vectors: column i of R holds
// vector i's coordinates. Vectors come and go at O(n²) each, by Givens rotations of the rows.
class Factor {
public:
    std::size_t size() const { return size_; }
    double* row(std::size_t i) { return upper_.row(i); }
    void clear() { size_ = 0; }
    void append(std::span<const double> coordinates, double pivot);
    void erase(std::size_t k);
    void bring_to_front(std::size_t k);
    void solve_transposed(std::span<double> x) const;  // x ← R⁻ᵀ x
    void solve(std::span<double> x) const;             // x ← R⁻¹ x

private:
    GrowingMatrix upper_;
    std::size_t size_ = 0;
};

inline void GrowingMatrix::reserve(std::size_t size) {
    if (size <= stride_) return;
    const std::size_t wider = std::max<std::size_t>({16, size, 2 * stride_});
    std::vector<double> grown(wider * wider, 0.0);
    for (std::size_t i = 0; i < stride_; ++i) std::copy_n(row(i), stride_, grown.data() + i * wider);
    data_.swap(grown);
    stride_ = wider;
}

inline void Factor::append(std::span<const double> coordinates, double pivot) {
    upper_.reserve(size_ + 1);
    for (std::size_t j = 0; j < size_; ++j) upper_.row(j)[size_] = coordinates[j];
    upper_.row(size_)[size_] = pivot;
    ++size_;
}

// Without column k the rows from k on reach one entry below the diagonal; rotations clear it.
inline void Factor::erase(std::size_t k) {
    --size_;
    for (std::size_t j = 0; j <= size_; ++j) {
        double* row = upper_.row(j);
        const std::size_t from = std::max(k + 1, j);
        if (from > 0) std::copy(row + from, row + size_ + 1, row + from - 1);
    }
    for (std::size_t j = k; j < size_; ++j) {
        double *row = upper_.row(j) + j, *below = upper_.row(j + 1) + j;
        linear::rotate(row[0], below[0], row, below, size_ - j);
    }
}

// Rotations from below gather column k in the first row; the columns before it may then follow it.
inline void Factor::bring_to_front(std::size_t k) {
    for (std::size_t j = k; j-- > 0;) {
        double *row = upper_.row(j), *below = upper_.row(j + 1);
        below[j] = 0.0;
        linear::rotate(row[k], below[k], row + j, below + j, size_ - j);
    }
    const double length = upper_.row(0)[k];
    for (std::size_t j = 0; j <= k; ++j) {
        double* row = upper_.row(j);
        const std::size_t from = j == 0 ? 0 : j - 1;
        std::copy_backward(row + from, row + k, row + k + 1);
    }
    upper_.row(0)[0] = length;
}

inline void Factor::solve_transposed(std::span<double> x) const {
    for (std::size_t j = 0; j < size_; ++j) {
        const double* row = upper_.row(j);
        x[j] /= row[j];
        linear::subtract(x[j], row + j + 1, x.data() + j + 1, size_ - j - 1);
    }
}

inline void Factor::solve(std::span<double> x) const {
    for (std::size_t j = size_; j-- > 0;) {
        const double* row = upper_.row(j);
        x[j] = (x[j] - linear::dot(row + j + 1, x.data() + j + 1, size_ - j - 1)) / row[j];
    }
}

class MasterQP {
public:
    enum class Status {
        optimal,     // the residual is at most tol
        unbounded,   // no w satisfies the hard cuts (to working precision)
        max_pivots,  // stopped early; the multipliers are feasible
        precision,   // stopped at the floor of rounding, with a residual above tol
    };

    explicit MasterQP(double capacity);

    // gram_row: the products with the items so far, in order, then the item's own squared norm.
    void add(std::span<const double> gram_row, double delta, bool hard = false);
    // Removes the items, in any order; the others keep theirs. Their multipliers must be zero.
    void remove(std::span<const std::size_t> items);
    // Changes C; soft multipliers are scaled with it.
    void set_capacity(double capacity);
    Status solve(double tol, int max_pivots);

    std::size_t size() const { return delta_.size(); }
    double capacity() const { return capacity_; }
    std::span<const double> multipliers() const { return mu_; }
    double dual_value() const;
    // Σ_soft μ_i (ξ − r_i) + Σ_hard μ_j |r_j| + (C + Σ_hard μ_j) max_hard(r_j)⁺
    double residual() const { return residual_; }
    // What rounding may hide in the residual.
    double rounding() const { return rounding_; }
    int pivots() const { return pivots_; }  // of the last solve

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    enum class Entry { done, endless, unclear };  // unclear: endless, but perhaps level
    struct Iterate {  // where an attempt began
        std::vector<double> mu;
        std::vector<std::size_t> free;
        std::size_t anchor;
    };
    struct Line {  // the entering multiplier moves by 1, the free ones by step_
        double curvature, floor;  // dᵀGd, and what rounding alone could make of it
    };
    struct Block {
        double length;
        std::size_t position;
    };

    double weight(std::size_t i) const { return hard_[i] ? 0.0 : 1.0; }  // a_i: is i in Σ μ_i = C?
    double excess(std::size_t i) const { return r_[i] - weight(i) * level_; }
    double product(std::size_t i, std::size_t j) const;
    std::size_t item(std::size_t position) const;
    std::size_t smallest_soft() const;

    void evaluate();
    void judge();
    bool centre();
    Entry enter(std::size_t entering);
    void restore(const Iterate& start);
    Line line(std::size_t entering);
    double line_noise(std::size_t entering) const;
    void close_line(double entering_weight);
    Block first_block() const;
    void move(double length);
    void settle();
    void admit(std::size_t i, double pivot);
    void drop(std::size_t position);
    void exchange(std::size_t position);
    void refactor();

    double capacity_;
    GrowingMatrix gram_;
    std::vector<double> delta_, norm_, mu_;
    std::vector<char> hard_, is_free_;

    // The free set: items in the order of the factor, and one soft item, the anchor p, that takes up
    // what the others give. K has the products of g_i − a_i g_p, so the equation Σ_soft μ_i = C is
    // built in. p is the shortest free soft item, so that little is lost in the differences.
    std::vector<std::size_t> free_;
    std::size_t anchor_ = none;
    Factor factor_;
    std::size_t updates_ = 0;  // of the factor since it was last built afresh

    std::vector<double> r_, noise_;  // the cuts' values and what rounding may hide in r_i − a_i ξ
    std::vector<double> coordinates_, step_;
    double level_ = 0.0;               // ξ, as the free soft items have it: Σ_soft μ_i r_i / C
    double inner_ = 0.0, outer_ = 0.0; // residual from unequal free items, and from the worst item
    double inner_noise_ = 0.0, rounding_ = 0.0;
    bool in_order_ = true;             // the free items are even, up to rounding
    std::size_t worst_ = none;         // the item that most exceeds its level, beyond rounding
    double residual_ = 0.0, dual_noise_ = 0.0;
    int pivots_ = 0, centrings_ = 0;
};

}  // namespace rankcut
