#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <stdexcept>

#include "check.hpp"
#include "rankcut/graph/cut_graph.hpp"

using rankcut::CutGraph;
using rankcut::graph::Labellings;
using Doubles = std::vector<double>;
using Bytes = std::vector<std::uint8_t>;
using Random = std::mt19937_64;

namespace {

struct Problem {
    std::size_t n;
    std::vector<std::int64_t> pairs;
    Doubles unary, costs;

    std::size_t m() const { return pairs.size() / 2; }
};

struct Solved {
    CutGraph graph;
    Doubles plus, minus;
    Bytes labels;

    explicit Solved(const Problem& p, int n_threads = 1, bool by_component = false)
        : graph(p.n, p.pairs), plus(p.n), minus(p.n), labels(p.n) {
        graph.max_marginals(p.unary.data(), p.costs.data(), plus.data(), minus.data(), labels.data(), by_component,
                            n_threads);
    }
};

enum class Numbers { whole, normal, tied, wide };

double draw(Random& random, Numbers kind) {
    if (kind == Numbers::whole) return static_cast<double>(random() % 9) - 4.0;
    if (kind == Numbers::tied) return static_cast<double>(random() % 3) - 1.0;
    const double x = std::normal_distribution<>()(random);
    return kind == Numbers::wide ? std::ldexp(x, static_cast<int>(random() % 60) - 30) : x;
}

Problem random_problem(Random& random, std::size_t n, std::size_t m, Numbers kind) {
    Problem p{n, {}, Doubles(n), {}};
    for (double& u : p.unary) u = draw(random, kind);
    for (std::size_t e = 0; n > 1 && e < m; ++e) {
        const auto i = static_cast<std::int64_t>(random() % n), j = static_cast<std::int64_t>(random() % (n - 1));
        p.pairs.insert(p.pairs.end(), {i, j < i ? j : j + 1});
        p.costs.push_back(std::abs(draw(random, kind)));
    }
    return p;
}

double energy(const Problem& p, std::uint32_t mask) {
    double sum = 0.0;
    for (std::size_t i = 0; i < p.n; ++i)
        if (mask >> i & 1) sum += p.unary[i];
    for (std::size_t e = 0; e < p.m(); ++e)
        if ((mask >> p.pairs[2 * e] & 1) != (mask >> p.pairs[2 * e + 1] & 1)) sum -= p.costs[e];
    return sum;
}

// By all labellings.
std::pair<Doubles, Doubles> enumerated(const Problem& p) {
    const double low = -std::numeric_limits<double>::infinity();
    Doubles plus(p.n, low), minus(p.n, low);
    for (std::uint32_t mask = 0; mask < 1u << p.n; ++mask) {
        const double value = energy(p, mask);
        for (std::size_t i = 0; i < p.n; ++i) {
            double& best = (mask >> i & 1 ? plus : minus)[i];
            best = std::max(best, value);
        }
    }
    return {plus, minus};
}

double size_of(const Problem& p) {
    double sum = 0.0;
    for (const double u : p.unary) sum += std::abs(u);
    for (const double c : p.costs) sum += c;
    return sum;
}

std::vector<std::size_t> components(const Problem& p) {
    std::vector<std::size_t> of(p.n);
    std::iota(of.begin(), of.end(), std::size_t{0});
    for (bool changed = true; changed;) {
        changed = false;
        for (std::size_t e = 0; e < p.m(); ++e) {
            auto &a = of[p.pairs[2 * e]], &b = of[p.pairs[2 * e + 1]];
            if (a != b) a = b = std::min(a, b), changed = true;
        }
    }
    return of;
}

double dot(const Doubles& a, const Doubles& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

// Every labelling has its value; frozen values and pulls are the sums over the labellings, one by one.
void check_labellings(const Problem& p, Random& random) {
    const Solved by_part(p, 1, true);
    const auto& labellings = by_part.graph.labellings();
    const double tol = 1e-14 * static_cast<double>(p.n + p.m()) * size_of(p);
    const auto of = components(p);
    Doubles plus_weight(p.n), minus_weight(p.n), node(p.n), edge(p.m()), expected_node(p.n, 0.0), expected_edge(p.m(), 0.0);
    Bytes sides(p.n), y(p.n);
    for (std::size_t i = 0; i < p.n; ++i) {
        sides[i] = random() % 2;
        (random() % 3 ? plus_weight : minus_weight)[i] = static_cast<double>(random() % 7) - 3.0;
    }
    Doubles frozen(p.n);
    const auto kept = labellings.keep(sides.data());
    kept.values(p.unary.data(), p.costs.data(), sides.data(), frozen.data(), 1);
    for (std::size_t i = 0; i < p.n; ++i) {
        for (const bool side : {false, true}) {
            labellings.labelling(i, side, y.data());
            CHECK(y[i] == side);
            double value = 0.0;
            const double weight = (side ? plus_weight : minus_weight)[i];
            for (std::size_t v = 0; v < p.n; ++v) {
                if (!y[v]) continue;
                CHECK(of[v] == of[i]);
                value += p.unary[v];
                expected_node[v] += weight;
            }
            for (std::size_t e = 0; e < p.m(); ++e) {
                if (y[p.pairs[2 * e]] == y[p.pairs[2 * e + 1]]) continue;
                value -= p.costs[e];
                expected_edge[e] -= weight;
            }
            CHECK(std::abs(value - (side ? by_part.plus : by_part.minus)[i]) <= tol);
            if (side == (sides[i] != 0)) {
                CHECK(std::abs(frozen[i] - value) <= tol);
                Bytes again(p.n);
                kept.labelling(i, side, again.data());
                CHECK(again == y);
            }
        }
    }
    labellings.pull(plus_weight.data(), minus_weight.data(), node.data(), edge.data(), 1);
    CHECK(node == expected_node && edge == expected_edge);
    CHECK(std::abs(dot(node, p.unary) + dot(edge, p.costs) - dot(plus_weight, by_part.plus) -
                   dot(minus_weight, by_part.minus)) <= 10 * tol);
}

void check_against_enumeration(const Problem& p, bool exact) {
    const Solved found(p);
    const auto [plus, minus] = enumerated(p);
    const double tol = exact ? 0.0 : 1e-15 * static_cast<double>(p.n + p.m()) * size_of(p);
    double best = -std::numeric_limits<double>::infinity();
    std::uint32_t mask = 0;
    for (std::size_t i = 0; i < p.n; ++i) {
        CHECK(std::abs(found.plus[i] - plus[i]) <= tol);
        CHECK(std::abs(found.minus[i] - minus[i]) <= tol);
        CHECK(std::abs(found.graph.scores()[i] - (plus[i] - minus[i])) <= 2 * tol);
        CHECK(found.labels[i] == (found.graph.scores()[i] > 0.0));
        mask |= static_cast<std::uint32_t>(found.labels[i]) << i;
        best = std::max({best, plus[i], minus[i]});
    }
    CHECK(std::abs(energy(p, mask) - best) <= tol);
    CutGraph alone(p.n, p.pairs);
    Bytes labels(p.n);
    CHECK(std::abs(alone.label(p.unary.data(), p.costs.data(), labels.data(), 1) - best) <= tol);
    CHECK(labels == found.labels);
}

}  // namespace

TEST(max_marginals_equal_enumeration) {
    Random random(1);
    for (int round = 0; round < 6000; ++round) {
        const auto kind = static_cast<Numbers>(round % 4);
        const std::size_t n = 1 + random() % 9;
        const Problem p = random_problem(random, n, random() % (2 * n + 1), kind);
        check_against_enumeration(p, kind == Numbers::whole || kind == Numbers::tied);
        check_labellings(p, random);
    }
}

TEST(max_marginals_of_many_components_do_not_depend_on_threads) {
    Random random(2);
    for (const auto kind : {Numbers::normal, Numbers::tied}) {
        const Problem p = random_problem(random, 20000, 9000, kind);
        const Solved one(p, 1), three(p, 3);
        CHECK(one.plus == three.plus && one.minus == three.minus && one.labels == three.labels);
        CHECK(one.graph.visits() == three.graph.visits());
        Doubles weight(p.n), node(p.n), edge(p.m()), node_3(p.n), edge_3(p.m());
        for (double& w : weight) w = draw(random, Numbers::normal);
        one.graph.labellings().pull(weight.data(), weight.data(), node.data(), edge.data(), 1);
        three.graph.labellings().pull(weight.data(), weight.data(), node_3.data(), edge_3.data(), 3);
        CHECK(node == node_3 && edge == edge_3);
    }
}

TEST(scores_of_one_large_component_are_what_its_labellings_say) {
    Random random(3);
    for (const auto kind : {Numbers::normal, Numbers::whole, Numbers::tied}) {
        const Problem p = random_problem(random, 300, 700, kind);
        check_labellings(p, random);
    }
}

// Nodes 0 to `core` − 1 are tied up with each other and hold next to nothing together; the others hang on them.
Problem core_problem(Random& random, std::size_t n, std::size_t core) {
    Problem p{n, {}, Doubles(n), {}};
    const auto link = [&](std::size_t i, std::size_t j, double cost) {
        if (i == j) return;
        p.pairs.insert(p.pairs.end(), {static_cast<std::int64_t>(i), static_cast<std::int64_t>(j)});
        p.costs.push_back(cost);
    };
    for (std::size_t i = 0; i < core; ++i)
        for (int k = 0; k < 3; ++k) link(i, random() % core, 4.0 + static_cast<double>(random() % 4));
    for (std::size_t i = core; i < n; ++i)
        for (int k = 0; k < 2; ++k) link(i, random() % core, 1.0 + static_cast<double>(random() % 3));
    for (std::size_t i = 0; i < n; ++i)
        p.unary[i] = i < core ? static_cast<double>(random() % 2) : static_cast<double>(random() % 9) - 4.0;
    p.unary[0] -= std::accumulate(p.unary.begin(), p.unary.begin() + static_cast<std::ptrdiff_t>(core), -1.0);
    return p;
}

TEST(a_closed_region_counts_as_one_node) {
    Random random(4);
    for (int round = 0; round < 6; ++round) check_against_enumeration(core_problem(random, 19, 17), true);
    for (int round = 0; round < 40; ++round) check_labellings(core_problem(random, 60 + random() % 60, 40), random);
}

TEST(a_path_of_many_nodes_needs_no_deep_stack) {
    const std::size_t n = 200000;
    Problem p{n, {}, Doubles(n, 0.0), Doubles(n - 1, 1.0)};
    for (std::size_t v = 0; v + 1 < n; ++v) p.pairs.insert(p.pairs.end(), {static_cast<std::int64_t>(v), static_cast<std::int64_t>(v + 1)});
    p.unary[0] = 3.0;
    const Solved found(p);
    CHECK(found.plus == Doubles(n, 3.0));
    CHECK(found.minus[0] == 0.0 && found.minus[1] == 2.0 && found.minus[n - 1] == 2.0);
}

TEST(a_graph_refuses_what_it_cannot_use) {
    auto throws = [](auto&& call) {
        try {
            call();
        } catch (const std::exception&) {
            return true;
        }
        return false;
    };
    const std::vector<std::int64_t> fine = {0, 1}, loop = {1, 1}, beyond = {0, 2}, below = {-1, 0}, odd = {0};
    for (const auto& pairs : {loop, beyond, below, odd}) CHECK(throws([&] { CutGraph(2, pairs); }));
    CutGraph graph(2, fine);
    CHECK(throws([&] { graph.labellings(); }));
    const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
    const Doubles unary = {1.0, -1.0};
    Bytes labels(2);
    for (const double cost : {-1.0, nan, infinite})
        CHECK(throws([&] { graph.label(unary.data(), &cost, labels.data(), 1); }));
    const double cost = 0.5;
    for (const double u : {nan, infinite}) {
        const Doubles bad = {u, 0.0};
        CHECK(throws([&] { graph.label(bad.data(), &cost, labels.data(), 1); }));
    }
    CHECK(graph.label(unary.data(), &cost, labels.data(), 1) == 0.5);
    CHECK(labels == (Bytes{1, 0}));
}

// Costs far beyond the scores, on many edges: the grid leaves room for their sums, or stops adding them up.
TEST(costs_beyond_all_scores_do_not_overflow) {
    Random random(4);
    for (int round = 0; round < 300; ++round) {
        const std::size_t n = 3 + random() % 9;
        Problem p = random_problem(random, n, 60, Numbers::whole);
        const double factor = std::ldexp(1.0, static_cast<int>(random() % 8) - 2);
        for (double& c : p.costs)
            if (random() % 4) c *= 16.0 * factor;
        check_against_enumeration(p, true);
        check_labellings(p, random);
    }
}
