// Preferences against a double loop over all pairs.
#include "rankcut/loss/preference.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "check.hpp"
#include "rankcut/compensated.hpp"

using namespace rankcut;

namespace {

using Numbers = std::vector<double>;

// δ and α of one list, y falling; above: 0 for all pairs of different y.
double double_loop(const Numbers& z, const Numbers& y, std::size_t above, Rescaling rescaling, Numbers& alpha) {
    const std::size_t n = z.size();
    alpha.assign(n, 0.0);
    double delta = 0.0, pairs = 0.0;
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 1; j < n; ++j) {
            const double gain = y[i] - y[j], run = z[i] - z[j];
            if (above == 0 ? gain <= 0 : i >= above || j < above) continue;
            pairs += 1.0;
            if ((rescaling == Rescaling::slack ? 1.0 - run : gain - run) <= 0) continue;
            const double weight = rescaling == Rescaling::slack ? gain : 1.0;
            delta += gain;
            alpha[i] -= weight;
            alpha[j] += weight;
        }
    for (double& a : alpha) a /= pairs;
    return delta / pairs;
}

void compare(const Numbers& z, const Numbers& y, std::size_t above, double tolerance) {
    const std::size_t n = z.size();
    for (const Rescaling rescaling : {Rescaling::slack, Rescaling::margin}) {
        PreferenceRisk risk({0, n}, y, {above}, rescaling, 1.0);
        Numbers alpha(n), expected;
        const double delta = risk.evaluate(z.data(), alpha.data(), 2);
        CHECK(check::near(delta, double_loop(z, y, above, rescaling, expected), tolerance));
        for (std::size_t i = 0; i < n; ++i) CHECK(std::abs(alpha[i] - expected[i]) <= tolerance);
    }
}

}  // namespace

TEST(preferences_of_small_lists) {
    std::mt19937_64 random(1);
    std::uniform_int_distribution<int> quarter(-8, 8), size(2, 120), kind(0, 2);
    std::normal_distribution<double> normal;
    for (int round = 0; round < 400; ++round) {
        const auto n = static_cast<std::size_t>(size(random));
        Numbers y(n), z(n);
        const bool real_y = kind(random) == 0, real_z = kind(random) == 0;
        for (double& each : y) each = real_y ? normal(random) : std::floor(quarter(random) / 3.0);
        for (double& each : z) each = real_z ? normal(random) : quarter(random) / 4.0;
        std::sort(y.rbegin(), y.rend());
        if (y[0] == y[n - 1]) continue;
        compare(z, y, 0, 1e-12);
        for (std::size_t above = 1; above < n; ++above)
            if (y[above - 1] > y[above]) compare(z, y, above, 1e-12);
    }
}

// Cut between two values of y, as near to the middle as can be, a half may be of one sample.
TEST(preferences_of_one_sample_over_many) {
    std::mt19937_64 random(4);
    std::normal_distribution<double> normal;
    for (const std::size_t n : {33, 40, 100, 5000})
        for (const std::size_t best : {std::size_t{1}, std::size_t{2}, n - 2, n - 1}) {
            Numbers y(n, 1.0), z(n);
            std::fill(y.begin(), y.begin() + static_cast<std::ptrdiff_t>(best), 5.0);
            for (double& each : z) each = normal(random);
            compare(z, y, 0, 1e-12);
            y[0] += 1.0;
            compare(z, y, 0, 1e-12);
        }
}

TEST(preferences_of_a_list_in_chunks) {
    std::mt19937_64 random(2);
    std::normal_distribution<double> normal;
    for (const double grid : {0.0, 0.5}) {
        Numbers y(9000), z(9000);
        for (double& each : y) each = grid > 0 ? std::round(normal(random)) : normal(random);
        std::sort(y.rbegin(), y.rend());
        for (std::size_t i = 0; i < z.size(); ++i)
            z[i] = grid > 0 ? grid * std::round(3.0 * normal(random)) : 0.5 * y[i] + normal(random);
        compare(z, y, 0, 1e-11);
    }
}

TEST(preferences_of_lists_large_and_small) {
    std::mt19937_64 random(3);
    std::normal_distribution<double> normal;
    const std::vector<std::size_t> sizes{3, 70'000, 2, 40, 5'000};
    std::vector<std::size_t> offsets{0};
    Numbers y;
    for (const std::size_t n : sizes) {
        for (std::size_t i = 0; i < n; ++i) y.push_back(normal(random));
        std::sort(y.end() - static_cast<std::ptrdiff_t>(n), y.end(), std::greater<>());
        offsets.push_back(y.size());
    }
    Numbers z(y.size());
    for (double& each : z) each = normal(random);
    for (const Rescaling rescaling : {Rescaling::slack, Rescaling::margin}) {
        PreferenceRisk risk(offsets, y, std::vector<std::size_t>(sizes.size(), 0), rescaling, 0.2);
        Numbers alpha(z.size()), again(z.size()), weight(z.size());
        const double delta = risk.evaluate(z.data(), alpha.data(), 1);
        CHECK(risk.evaluate(z.data(), again.data(), 3) == delta);
        CHECK(alpha == again);
        risk.curvature(z.data(), alpha.data(), weight.data(), 3);
        CHECK(*std::min_element(weight.begin(), weight.end()) >= 0.0);
        double sum = 0.0;
        for (std::size_t l = 0; l < sizes.size(); ++l) {
            const auto at = static_cast<std::ptrdiff_t>(offsets[l]), end = static_cast<std::ptrdiff_t>(offsets[l + 1]);
            PreferenceRisk alone({0, sizes[l]}, Numbers(y.begin() + at, y.begin() + end), {0}, rescaling, 0.2);
            Numbers part(sizes[l]);
            sum += alone.evaluate(z.data() + at, part.data(), 1);
            CHECK(std::equal(part.begin(), part.end(), alpha.begin() + at));
        }
        CHECK(check::near(sum, delta, 1e-14));
    }
}

TEST(compensated_sums_lose_nothing) {
    Compensated sum;
    for (const double x : {1.0, 1e100, 1.0, -1e100}) sum.add(x);
    CHECK(sum.sum() == 2.0);
}
