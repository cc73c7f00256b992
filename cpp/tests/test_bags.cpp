// Bags: the best instances, and lines that keep only what can be best.
#include "rankcut/bags.hpp"

#include <algorithm>
#include <limits>
#include <random>

#include "check.hpp"

using namespace rankcut;

namespace {

struct Case {
    std::vector<std::int64_t> begin, end;
    std::vector<double> z, direction;
    std::vector<std::uint8_t> left_out;

    Bags bags(bool marks) const { return {begin.data(), end.data(), begin.size(), marks ? left_out.data() : nullptr}; }
};

// Bags in any order, some instances in none; small whole numbers, so that many are tied.
Case random_case(std::mt19937_64& random, std::size_t n_bags, std::int64_t longest, int values) {
    std::uniform_int_distribution<std::int64_t> length(1, longest);
    std::uniform_int_distribution<int> value(-values, values);
    Case c;
    std::int64_t at = 0;
    for (std::size_t i = 0; i < n_bags; ++i) {
        at += static_cast<std::int64_t>(random() % 3);
        c.begin.push_back(at);
        at += length(random);
        c.end.push_back(at);
    }
    for (std::int64_t h = 0; h < at; ++h) {
        c.z.push_back(value(random));
        c.direction.push_back(value(random));
        c.left_out.push_back(random() % 2 == 0);
    }
    for (std::size_t i = 0; i < n_bags; ++i) c.left_out[static_cast<std::size_t>(c.begin[i])] = 0;
    if (n_bags > 1) {
        std::swap(c.begin.front(), c.begin.back());
        std::swap(c.end.front(), c.end.back());
    }
    return c;
}

double best(const Case& c, std::size_t i, bool marks, double t) {
    double top = -std::numeric_limits<double>::infinity();
    for (auto h = static_cast<std::size_t>(c.begin[i]); h < static_cast<std::size_t>(c.end[i]); ++h)
        if (!marks || c.left_out[h] == 0) top = std::max(top, c.z[h] + t * c.direction[h]);
    return top;
}

}  // namespace

TEST(best_instances_are_the_first_of_the_largest) {
    std::mt19937_64 random(1);
    for (int turn = 0; turn < 500; ++turn) {
        const Case c = random_case(random, 1 + random() % 40, 1 + static_cast<std::int64_t>(random() % 9), 3);
        for (const bool marks : {false, true}) {
            const Bags bags = c.bags(marks);
            std::vector<double> score(bags.size);
            std::vector<std::int64_t> instance(bags.size);
            best_instances(bags, c.z.data(), score.data(), instance.data(), 1);
            for (std::size_t i = 0; i < bags.size; ++i) {
                const auto h = static_cast<std::size_t>(instance[i]);
                CHECK(score[i] == best(c, i, marks, 0.0) && c.z[h] == score[i]);
                CHECK(instance[i] >= c.begin[i] && instance[i] < c.end[i] && (!marks || c.left_out[h] == 0));
                for (auto k = static_cast<std::size_t>(c.begin[i]); k < h; ++k)
                    CHECK(c.z[k] < score[i] || (marks && c.left_out[k] != 0));
            }
        }
    }
}

TEST(lines_keep_all_that_can_be_best) {
    std::mt19937_64 random(2);
    std::uniform_real_distribution<double> place(0.0, 1.0);
    for (int turn = 0; turn < 500; ++turn) {
        const Case c = random_case(random, 1 + random() % 40, 1 + static_cast<std::int64_t>(random() % 9), 9);
        const double reach = turn % 3 == 0 ? 0.0 : std::exp2(static_cast<double>(random() % 7));
        const bool marks = turn % 2 == 0;
        const Bags bags = c.bags(marks);
        const BagLine line(bags, c.z.data(), c.direction.data(), reach, 1);
        CHECK(line.kept() >= bags.size && line.kept() <= c.z.size());
        std::vector<double> score(bags.size), slope(bags.size);
        for (const double t : {0.0, reach, reach * place(random), reach * place(random)}) {
            line.at(t, score.data(), slope.data(), 1);
            for (std::size_t i = 0; i < bags.size; ++i) {
                CHECK(score[i] == best(c, i, marks, t));
                CHECK(best(c, i, marks, t + 0.5) >= score[i] + 0.5 * slope[i] - 1e-9);
            }
        }
    }
}

TEST(bags_do_not_depend_on_the_number_of_threads) {
    std::mt19937_64 random(3);
    const Case c = random_case(random, 20'000, 9, 1000);
    const Bags bags = c.bags(true);
    std::vector<double> one(bags.size), four(bags.size), slope(bags.size);
    std::vector<std::int64_t> first(bags.size), second(bags.size);
    best_instances(bags, c.z.data(), one.data(), first.data(), 1);
    best_instances(bags, c.z.data(), four.data(), second.data(), 4);
    CHECK(one == four && first == second);
    BagLine(bags, c.z.data(), c.direction.data(), 1.0, 1).at(0.3, one.data(), slope.data(), 1);
    BagLine(bags, c.z.data(), c.direction.data(), 1.0, 4).at(0.3, four.data(), slope.data(), 4);
    CHECK(one == four);
}
