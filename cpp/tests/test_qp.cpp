#include "rankcut/qp.hpp"

#include <algorithm>
#include <random>
#include <stdexcept>

#include "check.hpp"

using rankcut::MasterQP;
using Status = MasterQP::Status;
using Row = std::vector<double>;

namespace {

double dot(const Row& a, const Row& b) {
    double sum = 0.0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

// A master problem beside the vectors it is about.
struct Problem {
    std::vector<Row> cuts;
    Row delta;
    std::vector<bool> hard;
    double capacity;
    MasterQP qp;

    explicit Problem(double c) : capacity(c), qp(c) {}
    void add(const Row& g, double d, bool is_hard = false) {
        Row products;
        for (const Row& other : cuts) products.push_back(dot(g, other));
        products.push_back(dot(g, g));
        qp.add(products, d, is_hard);
        cuts.push_back(g), delta.push_back(d), hard.push_back(is_hard);
    }
    Row point() const {  // w = −Σ μ_i g_i
        Row w(cuts[0].size(), 0.0);
        for (std::size_t i = 0; i < cuts.size(); ++i)
            for (std::size_t k = 0; k < w.size(); ++k) w[k] -= qp.multipliers()[i] * cuts[i][k];
        return w;
    }
    bool feasible() const {
        double total = 0.0;
        bool soft = false, ok = true;
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            ok = ok && qp.multipliers()[i] >= 0.0;
            if (!hard[i]) total += qp.multipliers()[i], soft = true;
        }
        return ok && (!soft || std::abs(total - capacity) <= 1e-14 * static_cast<double>(cuts.size()) * capacity);
    }
    // Weak duality: the primal value at w, if w satisfies the hard cuts, is at least the dual's.
    double gap() const {
        const Row w = point();
        double top = -1e300, broken = 0.0;
        for (std::size_t i = 0; i < cuts.size(); ++i) {
            const double value = delta[i] + dot(cuts[i], w);
            (hard[i] ? broken : top) = std::max(hard[i] ? broken : top, value);
        }
        return 0.5 * dot(w, w) + (top > -1e300 ? capacity * top : 0.0) - qp.dual_value() + 1e3 * broken;
    }
};

Row random_row(std::mt19937& random, std::size_t n, double scale) {
    std::normal_distribution<double> normal(0.0, scale);
    Row row(n);
    for (double& x : row) x = normal(random);
    return row;
}

}  // namespace

TEST(qp_one_cut_by_hand) {
    Problem p(10.0);
    p.add({0.0}, 0.0);
    p.add({-2.0}, 1.0);  // ½w² + 10 max(0, 1 − 2w): w = ½, μ = ¼
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(check::near(p.qp.multipliers()[1], 0.25, 1e-14));
    CHECK(check::near(p.qp.multipliers()[0], 9.75, 1e-14));
    CHECK(check::near(p.qp.dual_value(), 0.125, 1e-14));
    p.qp.set_capacity(p.capacity = 0.1);  // now C binds: μ = 0.1, w = 0.2
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(p.qp.multipliers()[0] == 0.0 && check::near(p.qp.multipliers()[1], 0.1, 1e-14));
}

TEST(qp_hard_cuts) {
    Problem p(1.0);
    p.add({0.0, 0.0}, 0.0);
    p.add({-1.0, 0.0}, 3.0, true);  // w₀ ≥ 3
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(check::near(p.point()[0], 3.0, 1e-13));
    p.add({1.0, 0.5}, -2.0, true);  // w₀ + ½ w₁ ≤ 2
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(check::near(p.point()[0], 3.0, 1e-13) && check::near(p.point()[1], -2.0, 1e-13));
    p.add({0.0, -1.0}, 0.0, true);  // w₁ ≥ 0: together impossible
    const Row before(p.qp.multipliers().begin(), p.qp.multipliers().end());
    for (int again = 0; again < 2; ++again) {
        CHECK(p.qp.solve(1e-12, 100) == Status::unbounded);
        CHECK(std::ranges::equal(before, p.qp.multipliers()));
    }
    const std::size_t last[] = {3};
    p.qp.remove(last);
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(p.qp.size() == 3);
}

TEST(qp_hard_cuts_of_tiny_norm_that_contradict) {
    Problem p(1e5);
    p.add({1e-8, 1e-8, 0.0}, 0.1);
    p.add({1e-8, 0.0, 0.0}, 0.25, true);
    p.add({-1e-8, 1e-8, 2e-8}, 3.0, true);
    CHECK(p.qp.solve(0.0, 100) != Status::unbounded);
    p.add({-1e-8, 0.0, 0.0}, 0.97, true);
    CHECK(p.qp.solve(0.0, 100) == Status::unbounded);
    CHECK(p.feasible());
}

TEST(qp_equality_by_two_hard_cuts) {
    Problem p(10.0);
    p.add({1e9, 2e9}, -75.0, true);
    p.add({-1e11, -2e11}, 7500.0, true);
    p.qp.solve(0.0, 100);
    p.add({-3e6, 1e6}, 0.5);
    CHECK(p.qp.solve(1e-3, 100) == Status::optimal);
    CHECK(p.feasible());
    CHECK(std::abs(1e9 * p.point()[0] + 2e9 * p.point()[1] - 75.0) < 100.0);  // of terms of 3e16
}

TEST(qp_only_hard_cuts) {
    Problem p(1.0);
    p.add({1.0, 0.0}, 1.0, true);
    p.add({1.0, 1.0}, 2.0, true);
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(check::near(p.point()[0], -1.0, 1e-13) && check::near(p.point()[1], -1.0, 1e-13));
    p.add({0.0, 0.0}, 0.5);  // the first soft item takes C
    CHECK(p.qp.solve(1e-12, 100) == Status::optimal);
    CHECK(p.qp.multipliers()[2] == 1.0);
    p.add({0.0, 0.0}, 0.5, true);  // 0.5 ≤ 0 never holds
    CHECK(p.qp.solve(1e-12, 100) == Status::unbounded);
}

TEST(qp_duplicates_and_few_dimensions) {
    std::mt19937 random(1);
    for (const double capacity : {1e-3, 1.0, 1e3}) {
        Problem p(capacity);
        p.add(Row(6, 0.0), 0.0);
        for (int i = 0; i < 200; ++i) {
            const bool again = i > 0 && i % 3 == 0;
            const Row g = again ? p.cuts.back() : random_row(random, 6, 1.0);
            p.add(g, 0.5 + 0.001 * i);
            CHECK(p.qp.solve(1e-10 * capacity, 1000) == Status::optimal);
            CHECK(p.feasible());
        }
        CHECK(p.gap() <= 2e-10 * capacity);
        CHECK(std::ranges::count_if(p.qp.multipliers(), [](double m) { return m > 0.0; }) <= 7);
    }
}

TEST(qp_random_growth_with_removal) {
    std::mt19937 random(2);
    for (int run = 0; run < 30; ++run) {
        Problem p(std::pow(10.0, run % 7 - 3));
        const std::size_t dimension = 2 + random() % 30;
        if (run % 2 == 0) p.add(Row(dimension, 0.0), 0.0);
        for (int i = 0; i < 60; ++i) {
            const bool hard = run % 3 == 0 && i % 9 == 4;
            p.add(random_row(random, dimension, 1.0), hard ? -2.0 : 0.01 * i, hard);
            const double tol = 1e-13 * p.capacity * (1.0 + p.capacity * static_cast<double>(dimension));
            const Status status = p.qp.solve(tol, 2000);
            CHECK(p.feasible());
            if (status == Status::unbounded) break;
            CHECK(status == Status::optimal);
            CHECK(p.gap() < 1e4 * tol);
            if (i % 20 != 19) continue;
            std::vector<std::size_t> idle;
            for (std::size_t k = p.cuts.size(); k-- > 0;) {
                if (p.qp.multipliers()[k] != 0.0) continue;
                idle.push_back(k);
                p.cuts.erase(p.cuts.begin() + k), p.delta.erase(p.delta.begin() + k);
                p.hard.erase(p.hard.begin() + k);
            }
            p.qp.remove(idle);
            CHECK(p.qp.size() == p.cuts.size());
            CHECK(p.qp.solve(tol, 2000) == Status::optimal);
        }
    }
}

TEST(qp_repeats_exactly) {
    Row first;
    for (int run = 0; run < 2; ++run) {
        std::mt19937 random(3);
        Problem p(5.0);
        for (int i = 0; i < 50; ++i) {
            p.add(random_row(random, 20, 1.0), 0.5);
            p.qp.solve(1e-10, 1000);
        }
        const Row now(p.qp.multipliers().begin(), p.qp.multipliers().end());
        CHECK(run == 0 || now == first);
        first = now;
    }
}

TEST(qp_refuses_nonsense) {
    auto throws = [](auto&& action) {
        try {
            action();
        } catch (const std::logic_error&) {
            return true;
        }
        return false;
    };
    CHECK(throws([] { MasterQP(0.0); }));
    MasterQP qp(1.0);
    const Row one = {1.0}, bad = {0.0, std::nan("")}, negative = {0.0, -1.0};
    const std::size_t zeroth[] = {0}, fifth[] = {5};
    qp.add(one, 0.0);
    CHECK(throws([&] { qp.add(one, 0.0); }));
    CHECK(throws([&] { qp.add(bad, 0.0); }));
    CHECK(throws([&] { qp.add(negative, 0.0); }));
    CHECK(throws([&] { qp.remove(zeroth); }));
    CHECK(throws([&] { qp.remove(fifth); }));
    CHECK(throws([&] { qp.set_capacity(-1.0); }));
    CHECK(qp.size() == 1 && qp.multipliers()[0] == 1.0);
}
