// The oracles against every staircase of small lists, and what every risk promises.
#include "rankcut/loss/hinge.hpp"
#include "rankcut/loss/precision.hpp"
#include "rankcut/loss/published.hpp"
#include "rankcut/loss/risk.hpp"
#include "rankcut/loss/rows.hpp"
#include "rankcut/loss/staircase.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <random>

#include "check.hpp"

using namespace rankcut;

namespace {

using Scores = std::vector<double>;
using Loss = std::unique_ptr<ListLoss>;
// Δ of a ranking, best first: true for a positive.
using Delta = std::function<double(const std::vector<bool>&)>;

double ap_delta(const std::vector<bool>& ranking) {
    double hits = 0.0, sum = 0.0;
    for (std::size_t r = 0; r < ranking.size(); ++r)
        if (ranking[r]) hits += 1.0, sum += hits / static_cast<double>(r + 1);
    return 1.0 - sum / hits;
}
double auc_delta(const std::vector<bool>& ranking) {
    double above = 0.0, swapped = 0.0, positives = 0.0;
    for (const bool positive : ranking) {
        if (positive) swapped += above, positives += 1.0;
        else above += 1.0;
    }
    return swapped / (above * positives);
}
double mrr_delta(const std::vector<bool>& ranking) {
    return 1.0 - 1.0 / static_cast<double>(1 + (std::find(ranking.begin(), ranking.end(), true) - ranking.begin()));
}
double ndcg_delta(const std::vector<bool>& ranking) {
    double gain = 0.0, ideal = 0.0;
    std::size_t positives = 0;
    for (std::size_t r = 0; r < ranking.size(); ++r) {
        const auto discount = [](std::size_t rank) { return 1.0 / std::log2(1.0 + static_cast<double>(rank)); };
        if (!ranking[r]) continue;
        gain += discount(r + 1);
        ideal += discount(++positives);
    }
    return 1.0 - gain / ideal;
}
Delta precision_delta(std::size_t k) {
    return [k](const std::vector<bool>& ranking) {
        const auto positives = static_cast<std::size_t>(std::count(ranking.begin(), ranking.end(), true));
        const std::size_t first = std::min(k, ranking.size());
        const auto hits = std::count(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(first), true);
        return 1.0 - static_cast<double>(hits) / static_cast<double>(std::min(first, positives));
    };
}

// All interleavings of the two classes, each by falling score.
double brute_force(const Delta& delta, Scores positive, Scores negative) {
    std::sort(positive.rbegin(), positive.rend());
    std::sort(negative.rbegin(), negative.rend());
    const double pair = 2.0 / static_cast<double>(positive.size() * negative.size());
    std::vector<bool> ranking(positive.size(), false);
    ranking.resize(positive.size() + negative.size(), true);  // the first P of the flags become negatives …
    std::fill(ranking.begin(), ranking.end(), true);
    std::fill(ranking.begin(), ranking.begin() + static_cast<std::ptrdiff_t>(negative.size()), false);
    double best = -std::numeric_limits<double>::infinity();
    do {  // … and the permutations of the flags, from the smallest, are all interleavings
        double sum = 0.0, above_sum = 0.0, above = 0.0;
        std::size_t i = 0, j = 0;
        for (const bool is_positive : ranking) {
            if (is_positive) {
                sum += above_sum - above * positive[i++];
            } else {
                above_sum += negative[j++];
                above += 1.0;
            }
        }
        best = std::max(best, delta(ranking) + pair * sum);
    } while (std::next_permutation(ranking.begin(), ranking.end()));
    return best;
}

struct Found {
    double value;
    Scores alpha;  // positives, then negatives
};

Found solve(const ListLoss& loss, const Scores& positive, const Scores& negative) {
    Scratch scratch;
    Scores alpha(positive.size() + negative.size(), std::nan(""));
    const List list{positive.data(), positive.size(), negative.data(), negative.size()};
    double value = loss.most_violated(list, alpha.data(), alpha.data() + positive.size(), scratch);
    for (std::size_t i = 0; i < positive.size(); ++i) value += alpha[i] * positive[i];
    for (std::size_t j = 0; j < negative.size(); ++j) value += alpha[positive.size() + j] * negative[j];
    return {value, alpha};
}

struct Named {
    Loss loss;
    Delta delta;
};

std::vector<Named> ranking_losses() {
    std::vector<Named> all;
    all.push_back({std::make_unique<StaircaseLoss<ApGain>>(), ap_delta});
    for (const ApAlgorithm algorithm : {ApAlgorithm::greedy, ApAlgorithm::search, ApAlgorithm::select})
        all.push_back({std::make_unique<PublishedAp>(algorithm), ap_delta});
    all.push_back({std::make_unique<StaircaseLoss<AucGain>>(), auc_delta});
    all.push_back({std::make_unique<StaircaseLoss<MrrGain>>(), mrr_delta});
    all.push_back({std::make_unique<StaircaseLoss<NdcgGain>>(std::size_t{20'000}), ndcg_delta});
    for (const std::size_t k : {1, 2, 3, 5, 40})
        all.push_back({std::make_unique<PrecisionLoss>(k), precision_delta(k)});
    return all;
}

Scores draw(std::mt19937_64& rng, std::size_t n, int kind) {
    std::normal_distribution<double> normal;
    const double scales[] = {1.0, 0.1, 1e300, 1e-300, 5e-324};
    Scores z(n);
    for (double& v : z) {
        v = normal(rng);
        if (kind == 0) v = std::round(2.0 * v) / 2.0;
        if (kind == 1) v = 0.0;
        if (kind >= 2) v = kind == 6 ? std::round(4.0 * v) * 5e-324 : v * scales[kind - 2];
    }
    return z;
}

}  // namespace

TEST(oracles_equal_all_interleavings) {
    std::mt19937_64 rng(1);
    const auto losses = ranking_losses();
    for (int round = 0; round < 600; ++round) {
        const std::size_t P = 1 + rng() % 5, N = 1 + rng() % 5;
        const int kind = static_cast<int>(rng() % 7);
        const Scores positive = draw(rng, P, kind), negative = draw(rng, N, kind);
        double scale = 1.0;
        for (const double v : positive) scale = std::max(scale, std::abs(v));
        for (const double v : negative) scale = std::max(scale, std::abs(v));
        for (const Named& named : losses) {
            const Found found = solve(*named.loss, positive, negative);
            CHECK(std::abs(found.value - brute_force(named.delta, positive, negative)) <= 1e-13 * scale);
            for (std::size_t i = 0; i < P; ++i) CHECK(found.alpha[i] <= 0.0);
            for (std::size_t j = 0; j < N; ++j) CHECK(found.alpha[P + j] >= 0.0);
            CHECK(std::abs(std::accumulate(found.alpha.begin(), found.alpha.end(), 0.0)) <= 1e-13);
        }
    }
}

TEST(ap_algorithms_agree_on_long_lists) {
    std::mt19937_64 rng(2);
    const auto losses = ranking_losses();
    for (const auto& [P, N] : {std::pair<std::size_t, std::size_t>{1, 3000}, {400, 1500}, {1300, 40}, {30, 9000}}) {
        for (int kind = 0; kind < 7; ++kind) {
            for (const double lift : {0.0, 3.0, 0.2 * static_cast<double>(N)}) {
                Scores positive = draw(rng, P, kind);
                const Scores negative = draw(rng, N, kind);
                for (double& v : positive) v += lift;
                const double expected = solve(*losses[0].loss, positive, negative).value;
                for (std::size_t which = 1; which < 4; ++which)
                    CHECK(check::near(solve(*losses[which].loss, positive, negative).value, expected, 1e-10));
            }
        }
    }
}

namespace {

std::vector<std::uint32_t> ranked(Order& order, Sorter& sorter) {
    std::vector<std::uint32_t> ranks;
    for (std::size_t rank = 0; rank < order.size(); ++rank) {
        order.score_at(rank, sorter);  // sorts the rank's group
        ranks.push_back(order[rank]);
    }
    return ranks;
}

void sort_by(const Scores& z, std::vector<std::uint32_t>& positions) {
    std::stable_sort(positions.begin(), positions.end(), [&](auto a, auto b) { return z[a] > z[b]; });
}

// Every run of equal scores, and nothing else.
void check_ties(const Order& order, const Sorter& sorter, const Scores& z) {
    auto ties = sorter.ties;
    std::sort(ties.begin(), ties.end());
    std::size_t found = 0;
    for (std::size_t i = 0, end; i < order.size(); i = end) {
        for (end = i + 1; end < order.size() && z[order[end]] == z[order[i]];) ++end;
        if (end - i < 2) continue;
        CHECK(found < ties.size());
        CHECK((ties[found++] == std::pair{i, end}));
    }
    CHECK(found == ties.size());
}

}  // namespace

TEST(sorting_is_stable_and_falls) {
    std::mt19937_64 rng(3);
    Sorter sorter;
    Order order;
    for (const std::size_t n : {0, 1, 2, 3, 100, 511, 512, 513, 5000}) {
        for (int kind = 0; kind < 7; ++kind) {
            const Scores z = draw(rng, n, kind);
            order.sort_all(z.data(), n, sorter);
            std::vector<std::uint32_t> expected(n);
            std::iota(expected.begin(), expected.end(), 0U);
            sort_by(z, expected);
            CHECK(ranked(order, sorter) == expected);
            check_ties(order, sorter, z);
            std::vector<std::uint32_t> chosen;
            for (std::uint32_t i = 0; i < n; i += 1 + static_cast<std::uint32_t>(rng() % 3)) chosen.push_back(i);
            order.sort_some(z.data(), {chosen.rbegin(), chosen.rend()}, sorter);
            sort_by(z, chosen);
            CHECK(ranked(order, sorter) == chosen);
        }
    }
    // Scores that differ in their last bit, among others far away: quantising cannot tell them apart.
    Scores close(3000, 1.0);
    for (std::size_t i = 0; i < close.size(); ++i)
        if (rng() % 2 == 0) close[i] = std::nextafter(1.0, 2.0);
    close[7] = -1e9;
    std::vector<std::uint32_t> expected(close.size());
    std::iota(expected.begin(), expected.end(), 0U);
    sort_by(close, expected);
    order.sort_all(close.data(), close.size(), sorter);
    CHECK(ranked(order, sorter) == expected);
    check_ties(order, sorter, close);
}

TEST(histogram_groups_the_best_in_order) {
    std::mt19937_64 rng(6);
    Sorter sorter;
    Order order;
    for (const std::size_t n : {1, 2, 40, 3000}) {
        for (int kind = 0; kind < 7; ++kind) {
            const Scores z = draw(rng, n, kind);
            const double ceiling = *std::max_element(z.begin(), z.end());
            const double floor = z[rng() % n] < ceiling ? z[rng() % n] : ceiling;
            if (!(floor < ceiling)) continue;
            ScoreHistogram histogram;
            for (const std::size_t which : {std::size_t{0}, std::size_t{1}, std::size_t{2} + rng()}) {
                histogram.fill(z.data(), n, floor, ceiling, 1);
                const std::size_t lowest = which % histogram.bins();
                std::vector<std::uint32_t> kept;
                for (std::uint32_t i = 0; i < n; ++i)
                    if (histogram.bin_of(i) >= lowest) kept.push_back(i);
                CHECK(histogram.from(lowest) == kept.size());
                sorter.ties.clear();
                order.group(histogram, lowest, z.data());
                sort_by(z, kept);
                CHECK(ranked(order, sorter) == kept);
                check_ties(order, sorter, z);
            }
            for (std::size_t i = 0; i < n; ++i) CHECK(z[i] <= histogram.upper_edge(histogram.bin_of(i)));
        }
    }
}

TEST(ranges_find_the_extremes) {
    std::mt19937_64 rng(7);
    for (const std::size_t n : {1, 5, 16, 1000, 300'000}) {
        const Scores z = draw(rng, n, 0);
        const auto [low, high] = range(z.data(), n);
        CHECK(low == *std::min_element(z.begin(), z.end()));
        CHECK(high == *std::max_element(z.begin(), z.end()));
        const auto [rough_low, rough_high] = rough_range(z.data(), n);
        CHECK(low <= rough_low && rough_low <= rough_high && rough_high <= high);
    }
}

// Long enough for threads, and for a range of scores that is only sampled.
TEST(very_long_lists_do_not_depend_on_the_threads) {
    std::mt19937_64 rng(8);
    constexpr std::size_t P = 300, N = 200'000, n = P + N;
    for (const int kind : {0, 1, 2, 3}) {
        Scores z = draw(rng, n, kind);
        if (kind == 2)
            for (std::size_t i = P; i < n; i += 1001) z[i] *= 1e6;  // few, far away: a sample may miss them
        if (kind == 3) z[n - 3] += 1.0;  // all but a few tied
        Scores step(n), alpha[3];
        for (double& x : step) x = static_cast<double>(rng() % 1000) - 500.0;
        ListRisk one(std::make_unique<StaircaseLoss<ApGain>>(), {0, n}, {P});
        const LinePoint expected = one.line(z.data(), step.data(), 1e-3, 1);
        for (int threads = 1; threads <= 3; ++threads) {
            alpha[threads - 1].resize(n);
            ListRisk risk(std::make_unique<StaircaseLoss<ApGain>>(), {0, n}, {P});
            risk.evaluate(z.data(), alpha[threads - 1].data(), threads);
            CHECK(alpha[threads - 1] == alpha[0]);
            const LinePoint found = risk.line(z.data(), step.data(), 1e-3, threads);
            CHECK(found.value == expected.value && found.slope == expected.slope);
        }
        const double value = solve(StaircaseLoss<ApGain>(), {z.begin(), z.begin() + P}, {z.begin() + P, z.end()}).value;
        const double select = solve(PublishedAp(ApAlgorithm::select), {z.begin(), z.begin() + P},
                                    {z.begin() + P, z.end()}).value;
        CHECK(check::near(value, select, 1e-10));
    }
}

TEST(a_line_keeps_what_was_found_last) {
    std::mt19937_64 rng(10);
    for (const std::size_t n : {3, 40, 200'000}) {
        ListRisk risk(std::make_unique<StaircaseLoss<ApGain>>(), {0, n}, {1 + n / 5});
        const Scores z = draw(rng, n, 0), step = draw(rng, n, 0), other = draw(rng, n, 0);
        for (const double t : {0.0, 0.7}) {
            Scores point(n), alpha(n), expected(n);
            for (std::size_t i = 0; i < n; ++i) point[i] = z[i] + t * step[i];
            const LinePoint here = risk.line(z.data(), step.data(), t, 2);
            const double delta = risk.last(alpha.data());
            const LinePoint turned = risk.turn(other.data(), 2);
            CHECK(check::near(delta, risk.evaluate(point.data(), expected.data(), 1), 1e-12));
            for (std::size_t i = 0; i < n; ++i) CHECK(check::near(alpha[i], expected[i], 1e-12));
            CHECK(turned.value == here.value);
            CHECK(risk.turn(other.data(), 1).slope == turned.slope);
            CHECK(check::near(turned.slope, risk.line(point.data(), other.data(), 0.0, 1).slope, 1e-12));
        }
    }
}

TEST(rows_and_compact_order) {
    std::mt19937_64 rng(9);
    for (const std::size_t n : {1, 7, 300'000}) {
        const auto relevant = std::make_unique<bool[]>(n);
        for (std::size_t i = 0; i < n; ++i) relevant[i] = rng() % 3 == 0;
        std::vector<std::int32_t> order(n);
        const std::size_t count = partition(relevant.get(), n, order.data());
        for (std::size_t i = 0; i < n; ++i) {
            CHECK(relevant[static_cast<std::size_t>(order[i])] == (i < count));
            if (i > 0 && i != count) CHECK(order[i - 1] < order[i]);
        }
        const Scores z = draw(rng, n, 0);
        Scores compact(n), back(n);
        gather(z.data(), order.data(), n, compact.data(), 2);
        scatter(compact.data(), order.data(), n, back.data(), 2);
        CHECK(back == z);
        CHECK(compact[0] == z[static_cast<std::size_t>(order[0])]);
    }
}

TEST(hinge_by_its_formula) {
    std::mt19937_64 rng(4);
    for (const double J : {0.3, 1.0, 4.0}) {
        const Scores positive = draw(rng, 30, 2), negative = draw(rng, 50, 2);
        double sum = 0.0;
        for (const double z : positive) sum += J * std::max(0.0, 1.0 - z);
        for (const double z : negative) sum += std::max(0.0, 1.0 + z);
        CHECK(check::near(solve(HingeLoss(J), positive, negative).value, sum / (J * 30 + 50), 1e-14));
    }
}

TEST(shifted_hinge_is_the_best_shift) {
    std::mt19937_64 rng(5);
    for (int round = 0; round < 300; ++round) {
        const std::size_t P = 1 + rng() % 12, N = 1 + rng() % 12;
        const double J = round % 3 == 0 ? 1.0 : 0.1 + static_cast<double>(rng() % 50) / 10.0;
        Scores z = draw(rng, P + N, round % 2 == 0 ? 0 : 2);
        ShiftedHingeRisk risk({0, P + N}, {P}, J);
        Scores alpha(P + N);
        double value = risk.evaluate(z.data(), alpha.data(), 1), sum = 0.0;
        const auto at = [&](double b) {
            double total = 0.0;
            for (std::size_t i = 0; i < P; ++i) total += J * std::max(0.0, 1.0 - z[i] - b);
            for (std::size_t j = P; j < P + N; ++j) total += std::max(0.0, 1.0 + z[j] + b);
            return total / (J * static_cast<double>(P) + static_cast<double>(N));
        };
        double best = at(risk.shift());
        for (std::size_t i = 0; i < P + N; ++i) {
            value += alpha[i] * z[i];
            sum += alpha[i];
        }
        for (std::size_t i = 0; i < P + N; ++i) best = std::min(best, at((i < P ? 1.0 : -1.0) - z[i]));
        CHECK(check::near(value, best, 1e-13));
        CHECK(check::near(at(risk.shift()), best, 1e-13));
        CHECK(std::abs(sum) <= 1e-14);
        double low = risk.shift(), high = low;  // the kinks that are best: the shift is in the middle
        for (std::size_t i = 0; i < P + N; ++i) {
            const double kink = (i < P ? 1.0 : -1.0) - z[i];
            if (at(kink) > best + 1e-13) continue;
            low = std::min(low, kink);
            high = std::max(high, kink);
        }
        CHECK(check::near(risk.shift(), 0.5 * (low + high), 1e-9));
    }
}

TEST(risks_are_means_of_lists_on_any_number_of_threads) {
    std::mt19937_64 rng(6);
    std::vector<std::size_t> offsets{0}, positives;
    for (const auto& [P, N] : {std::pair<std::size_t, std::size_t>{3, 5}, {200, 6000}, {1, 1}, {7, 2}, {900, 900},
                               {1, 5000}, {2, 2}, {5000, 3}}) {
        positives.push_back(P);
        offsets.push_back(offsets.back() + P + N);
    }
    const std::size_t n = offsets.back();
    const Scores z = draw(rng, n, 2), step = draw(rng, n, 2);
    auto losses = ranking_losses();
    for (Named& named : losses) {
        double mean = 0.0;
        for (std::size_t l = 0; l < positives.size(); ++l) {
            const auto at = [&](std::size_t i) { return z.begin() + static_cast<std::ptrdiff_t>(i); };
            const std::size_t middle = offsets[l] + positives[l];
            mean += solve(*named.loss, {at(offsets[l]), at(middle)}, {at(middle), at(offsets[l + 1])}).value /
                    static_cast<double>(positives.size());
        }
        ListRisk risk(std::move(named.loss), offsets, positives);
        CHECK(risk.size() == n);
        Scores first(n), alpha(n), weight(n), first_weight(n);
        const double delta = risk.evaluate(z.data(), first.data(), 1);
        CHECK(check::near(delta + dot(first.data(), z.data(), n), mean, 1e-12));
        const LinePoint expected = risk.line(z.data(), step.data(), 0.7, 1);
        risk.curvature(z.data(), first.data(), first_weight.data(), 1);
        for (const int n_threads : {2, 3, 16}) {
            CHECK(risk.evaluate(z.data(), alpha.data(), n_threads) == delta);
            CHECK(alpha == first);
            const LinePoint found = risk.line(z.data(), step.data(), 0.7, n_threads);
            CHECK(found.value == expected.value && found.slope == expected.slope);
            risk.curvature(z.data(), first.data(), weight.data(), n_threads);
            CHECK(weight == first_weight);
        }
        CHECK(std::all_of(weight.begin(), weight.end(), [](double w) { return w >= 0.0 && std::isfinite(w); }));
    }
}
