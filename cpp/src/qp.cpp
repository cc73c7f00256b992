#include "rankcut/qp.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

namespace rankcut {
namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double slack = 8.0;  // rounding errors are taken to be at most this many epsilons

// r ← r − Σ_k μ_k G_k over four rows k, read together.
void subtract_four(const std::vector<double>& mu, const GrowingMatrix& gram, const std::size_t* i,
                   std::vector<double>& r) {
    const double m0 = mu[i[0]], m1 = mu[i[1]], m2 = mu[i[2]], m3 = mu[i[3]];
    const double *g0 = gram.row(i[0]), *g1 = gram.row(i[1]), *g2 = gram.row(i[2]), *g3 = gram.row(i[3]);
    for (std::size_t k = 0; k < r.size(); ++k) r[k] -= (m0 * g0[k] + m1 * g1[k]) + (m2 * g2[k] + m3 * g3[k]);
}

double checked_capacity(double capacity) {
    if (!(capacity > 0.0) || !std::isfinite(capacity))
        throw std::invalid_argument("the capacity must be positive and finite");
    return capacity;
}

}  // namespace

MasterQP::MasterQP(double capacity) : capacity_(checked_capacity(capacity)) {}

void MasterQP::add(std::span<const double> gram_row, double delta, bool hard) {
    const std::size_t n = size();
    if (gram_row.size() != n + 1)
        throw std::invalid_argument("gram_row needs one product per item and the item's own squared norm");
    for (const double x : gram_row)
        if (!std::isfinite(x)) throw std::invalid_argument("gram_row must be finite");
    if (gram_row[n] < 0.0) throw std::invalid_argument("a squared norm must not be negative");
    if (!std::isfinite(delta)) throw std::invalid_argument("delta must be finite");

    gram_.reserve(n + 1);
    std::copy(gram_row.begin(), gram_row.end(), gram_.row(n));
    for (std::size_t i = 0; i < n; ++i) gram_.row(i)[n] = gram_row[i];
    delta_.push_back(delta);
    norm_.push_back(std::sqrt(gram_row[n]));
    mu_.push_back(0.0);
    hard_.push_back(hard);
    is_free_.push_back(false);
    r_.push_back(delta - linear::dot(gram_row.data(), mu_.data(), n));
    if (hard || anchor_ != none) return judge();
    anchor_ = n;  // the first soft item carries all of C
    is_free_[n] = true;
    mu_[n] = capacity_;
    evaluate();
}

void MasterQP::remove(std::span<const std::size_t> items) {
    std::vector<char> goes(size(), false);
    for (const std::size_t i : items) {
        if (i >= size()) throw std::out_of_range("there is no such item");
        if (mu_[i] != 0.0) throw std::invalid_argument("an item with a multiplier cannot be removed");
        goes[i] = true;
    }
    for (std::size_t position = free_.size() + 1; position-- > 0;)
        if (item(position) != none && goes[item(position)]) drop(position);

    std::vector<std::size_t> kept;
    for (std::size_t i = 0; i < size(); ++i)
        if (!goes[i]) kept.push_back(i);
    std::vector<std::size_t> place(size(), none);
    for (std::size_t k = 0; k < kept.size(); ++k) {
        const std::size_t i = kept[k];
        place[i] = k;
        for (std::size_t l = 0; l < kept.size(); ++l) gram_.row(k)[l] = gram_.row(i)[kept[l]];
        delta_[k] = delta_[i], norm_[k] = norm_[i], mu_[k] = mu_[i];
        hard_[k] = hard_[i], is_free_[k] = is_free_[i];
    }
    for (auto* column : {&delta_, &norm_, &mu_}) column->resize(kept.size());
    for (auto* column : {&hard_, &is_free_}) column->resize(kept.size());
    for (std::size_t& i : free_) i = place[i];
    if (anchor_ != none) anchor_ = place[anchor_];
    evaluate();
}

void MasterQP::set_capacity(double capacity) {
    const double factor = checked_capacity(capacity) / capacity_;
    capacity_ = capacity;
    for (std::size_t i = 0; i < size(); ++i)
        if (!hard_[i]) mu_[i] *= factor;
    settle();
    evaluate();
}

double MasterQP::dual_value() const {  // δᵀμ − ½ μᵀGμ = ½ μᵀ(δ + r)
    double value = 0.0;
    for (std::size_t i = 0; i < size(); ++i) value += 0.5 * mu_[i] * (delta_[i] + r_[i]);
    return value;
}

MasterQP::Status MasterQP::solve(double tol, int max_pivots) {
    pivots_ = centrings_ = 0;
    double lowest = infinity, highest = -infinity;  // residual and D, so far
    std::size_t idle = 0;
    while (residual_ > tol) {
        if (pivots_ >= max_pivots) return Status::max_pivots;
        const bool uneven = inner_ > std::max(0.01 * outer_, inner_noise_);
        const bool free_worst = worst_ == none || is_free_[worst_];
        if (!((uneven || free_worst) && centre())) {
            if (free_worst) return Status::precision;
            const Entry entry = enter(worst_);
            // A line without end proves the hard cuts infeasible, if the free set is in order.
            if (entry == Entry::endless && in_order_) return Status::unbounded;
            if (entry != Entry::done && (in_order_ || !centre())) return Status::precision;
        }
        settle();
        evaluate();
        // In exact arithmetic every pivot raises D, so no free set comes twice. A run that neither
        // raises D beyond rounding nor brings the residual down must end.
        const double value = dual_value();
        const bool progress = value > highest + dual_noise_ || residual_ < 0.9 * lowest;
        if (progress) highest = value, lowest = std::min(lowest, residual_);
        idle = progress ? 0 : idle + 1;
        if (idle > 32 + free_.size()) return Status::precision;
    }
    return Status::optimal;
}

// r = δ − Gμ, four rows of G at a time.
void MasterQP::evaluate() {
    r_ = delta_;
    std::size_t used = 0, rows[4];
    for (std::size_t i = 0; i < size(); ++i) {
        if (mu_[i] == 0.0) continue;
        rows[used++] = i;
        if (used < 4) continue;
        subtract_four(mu_, gram_, rows, r_);
        used = 0;
    }
    for (std::size_t k = 0; k < used; ++k)
        linear::subtract(mu_[rows[k]], gram_.row(rows[k]), r_.data(), size());
    judge();
}

// What is left of the optimality conditions.
void MasterQP::judge() {
    const std::size_t n = size();
    noise_.resize(n);
    double reach = 0.0, held = 0.0;  // Σ μ_i ‖g_i‖ and Σ_hard μ_i
    for (std::size_t i = 0; i < n; ++i) {
        reach += mu_[i] * norm_[i];
        held += (1.0 - weight(i)) * mu_[i];
    }
    double level_noise = 0.0, top = -infinity, top_noise = 0.0;
    level_ = dual_noise_ = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        noise_[i] = slack * epsilon * (std::abs(delta_[i]) + norm_[i] * reach);
        dual_noise_ += mu_[i] * noise_[i];
        if (hard_[i]) continue;
        level_ += mu_[i] / capacity_ * r_[i];
        level_noise += mu_[i] / capacity_ * noise_[i];
        if (r_[i] > top) top = r_[i], top_noise = noise_[i];
    }
    inner_ = inner_noise_ = residual_ = 0.0;
    in_order_ = true;
    worst_ = none;
    double highest = 0.0, broken = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        const double above = excess(i);
        noise_[i] += weight(i) * level_noise;
        inner_ += mu_[i] * std::abs(above);
        if (is_free_[i] && std::abs(above) > noise_[i]) in_order_ = false;
        inner_noise_ += mu_[i] * noise_[i];
        residual_ += mu_[i] * (hard_[i] ? std::abs(r_[i]) : top - r_[i]);
        if (hard_[i] && r_[i] > broken) broken = r_[i], top_noise = std::max(top_noise, noise_[i]);
        if (above > noise_[i] && above > highest) highest = above, worst_ = i;
    }
    outer_ = (capacity_ + held) * highest;
    residual_ += (capacity_ + held) * broken;
    rounding_ = inner_noise_ + (capacity_ + held) * top_noise;
}

// Newton's step on the free set, K u = r − a r_p, as far as the multipliers' signs allow: repairs what
// rounding or a new capacity has left uneven. False: it has been tried enough.
bool MasterQP::centre() {
    const std::size_t n = free_.size();
    if (n == 0 || centrings_ == 4) return false;
    if (++centrings_ == 2) refactor();
    ++pivots_;
    step_.resize(n + 1);
    for (std::size_t k = 0; k < n; ++k)
        step_[k] = r_[free_[k]] - (anchor_ == none ? 0.0 : weight(free_[k]) * r_[anchor_]);
    factor_.solve_transposed(step_);
    factor_.solve(step_);
    close_line(0.0);
    const Block block = first_block();
    const double length = std::min(1.0, block.length);
    move(length);
    if (block.length <= 1.0) drop(block.position);
    return true;
}

// Moves the entering item's multiplier until its cut is as high as the free ones, dropping the items
// whose multipliers vanish on the way.
MasterQP::Entry MasterQP::enter(std::size_t entering) {
    const Iterate start{mu_, free_, anchor_};
    double above = excess(entering);
    for (;;) {
        ++pivots_;
        if (!hard_[entering] && anchor_ == none) {  // the last soft one left: it has all of C
            anchor_ = entering;
            is_free_[entering] = true;
            return Entry::done;
        }
        const Line along = line(entering);
        const Block block = first_block();
        const bool flat = along.curvature <= along.floor;
        if (flat && block.length == infinity) {  // nothing stops it: D has no bound, if it really rises
            const bool rises = above > 4.0 * line_noise(entering);
            restore(start);
            return rises ? Entry::endless : Entry::unclear;
        }
        // D rises by t (above − ½ curvature t) along t. A flat line is followed until it is blocked:
        // were it let in, the factor would be singular.
        const double length = flat ? block.length : std::min(above / along.curvature, block.length);
        move(length);
        mu_[entering] += length;
        if (length < block.length) {
            admit(entering, std::sqrt(along.curvature));
            return Entry::done;
        }
        if (!flat) above = std::max(0.0, above - along.curvature * length);
        drop(block.position);
    }
}

void MasterQP::restore(const Iterate& start) {
    mu_ = start.mu, free_ = start.free, anchor_ = start.anchor;
    is_free_.assign(size(), false);
    for (std::size_t position = 0; position <= free_.size(); ++position)
        if (item(position) != none) is_free_[item(position)] = true;
    refactor();
    evaluate();
}

// The direction d with d_e = 1 that keeps r − a r_p = 0 on the free set: K u = −k, where k has the
// products with g_e − a_e g_p. Its curvature is K_ee − ‖R⁻ᵀ k‖².
MasterQP::Line MasterQP::line(std::size_t entering) {
    const std::size_t n = free_.size();
    coordinates_.resize(n);
    for (std::size_t k = 0; k < n; ++k) coordinates_[k] = product(free_[k], entering);
    factor_.solve_transposed(coordinates_);
    step_.resize(n + 1);
    for (std::size_t k = 0; k < n; ++k) step_[k] = -coordinates_[k];
    factor_.solve(step_);
    close_line(weight(entering));

    double reach = norm_[entering], longest = 1.0;
    for (std::size_t k = 0; k <= n; ++k) {
        if (item(k) == none) continue;
        reach += std::abs(step_[k]) * norm_[item(k)];
        longest = std::max(longest, std::abs(step_[k]));
    }
    for (std::size_t k = 0; k <= n; ++k) {  // what should be zero must not block an endless line
        if (item(k) == none || std::abs(step_[k]) > slack * epsilon * longest) continue;
        if (std::abs(step_[k]) * norm_[item(k)] <= slack * epsilon * reach) step_[k] = 0.0;
    }
    const double kept = linear::dot(coordinates_.data(), coordinates_.data(), n);
    return {product(entering, entering) - kept, slack * epsilon * reach * reach};
}

// What rounding may hide in the slope of D along the line.
double MasterQP::line_noise(std::size_t entering) const {
    double noise = noise_[entering];
    for (std::size_t k = 0; k < step_.size(); ++k)
        if (item(k) != none) noise += std::abs(step_[k]) * noise_[item(k)];
    return noise;
}

// The anchor gives what the other soft items take.
void MasterQP::close_line(double entering_weight) {
    double taken = entering_weight;
    for (std::size_t k = 0; k < free_.size(); ++k) taken += weight(free_[k]) * step_[k];
    step_.back() = -taken;
}

MasterQP::Block MasterQP::first_block() const {
    Block block{infinity, none};
    for (std::size_t k = 0; k < step_.size(); ++k) {
        if (!(step_[k] < 0.0) || item(k) == none) continue;
        const double length = mu_[item(k)] / -step_[k];
        if (length < block.length) block = {length, k};
    }
    return block;
}

void MasterQP::move(double length) {
    for (std::size_t k = 0; k < step_.size(); ++k)
        if (item(k) != none) mu_[item(k)] = std::max(0.0, mu_[item(k)] + length * step_[k]);
}

// Σ_soft μ_i = C to the last bit that summing allows: the largest multiplier takes the rounding.
void MasterQP::settle() {
    if (anchor_ == none) return;
    std::size_t largest = anchor_;
    double total = 0.0;
    for (std::size_t i = 0; i < size(); ++i) {
        if (hard_[i]) continue;
        total += mu_[i];
        if (mu_[i] > mu_[largest]) largest = i;
    }
    mu_[largest] += capacity_ - total;
}

double MasterQP::product(std::size_t i, std::size_t j) const {  // (g_i − a_i g_p)·(g_j − a_j g_p)
    const double plain = gram_.row(i)[j];
    if (anchor_ == none || (hard_[i] && hard_[j])) return plain;
    const double* p = gram_.row(anchor_);
    if (hard_[j]) return plain - p[j];
    if (hard_[i]) return plain - p[i];
    return (plain - p[i]) - (p[j] - p[anchor_]);
}

std::size_t MasterQP::item(std::size_t position) const {  // the anchor comes after the factor's items
    return position < free_.size() ? free_[position] : anchor_;
}

void MasterQP::admit(std::size_t i, double pivot) {
    const bool shorter = !hard_[i] && anchor_ != none && norm_[i] < 0.1 * norm_[anchor_];
    factor_.append(coordinates_, pivot);
    free_.push_back(i);
    is_free_[i] = true;
    centrings_ = 0;
    if (shorter) exchange(free_.size() - 1);
    if (++updates_ > free_.size() + 64) refactor();
}

void MasterQP::drop(std::size_t position) {
    const std::size_t i = item(position);
    mu_[i] = 0.0;
    is_free_[i] = false;
    centrings_ = 0;
    ++updates_;
    if (position == free_.size()) {  // the anchor itself: another takes over, if there is one
        position = smallest_soft();
        if (position == none) {
            anchor_ = none;
            return;
        }
        exchange(position);
        position = 0;
    }
    factor_.erase(position);
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(position));
}

std::size_t MasterQP::smallest_soft() const {
    std::size_t best = none;
    for (std::size_t k = 0; k < free_.size(); ++k)
        if (!hard_[free_[k]] && (best == none || norm_[free_[k]] < norm_[free_[best]])) best = k;
    return best;
}

// The item q at this position becomes the anchor; the old anchor p takes the first position. With q
// in front, R's first axis is along g_q − g_p and only that coordinate changes, in new vectors
// (g_i − g_p) − (g_q − g_p) and −(g_q − g_p). The axis is turned round to keep the pivot's sign.
void MasterQP::exchange(std::size_t position) {
    factor_.bring_to_front(position);
    const std::size_t q = free_[position];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(position));
    free_.insert(free_.begin(), std::exchange(anchor_, q));
    double* first = factor_.row(0);
    for (std::size_t k = 1; k < free_.size(); ++k) first[k] = weight(free_[k]) * first[0] - first[k];
}

void MasterQP::refactor() {
    factor_.clear();
    updates_ = 0;
    for (std::size_t k = 0; k < free_.size(); ++k) {
        const std::size_t i = free_[k];
        coordinates_.resize(k);
        for (std::size_t l = 0; l < k; ++l) coordinates_[l] = product(free_[l], i);
        factor_.solve_transposed(coordinates_);
        const double length = norm_[i] + (anchor_ == none ? 0.0 : weight(i) * norm_[anchor_]);
        const double pivot = product(i, i) - linear::dot(coordinates_.data(), coordinates_.data(), k);
        factor_.append(coordinates_, std::sqrt(std::max(pivot, slack * epsilon * length * length)));
    }
}

}  // namespace rankcut
