#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "rankcut/product.hpp"

namespace {

using rankcut::Compressed;
using rankcut::Dense;
using std::size_t;

// Small numbers with few bits: their products and sums are exact in any order.
double number(size_t seed) { return static_cast<double>(seed * 2654435761u % 17) - 8.0; }

std::vector<double> weights(size_t rows, size_t columns, bool with_gaps) {
    std::vector<double> w(rows * columns);
    for (size_t i = 0; i < w.size(); ++i)
        w[i] = with_gaps && i % columns % 3 == 1 ? 0.0 : number(i + 5);
    return w;
}

// Runs both products on every instruction set and number of threads, against x(i, j).
template <class M, class X>
void check_products(const M& m, size_t n, size_t d, const X& x) {
    size_t n_sets = 0;
    rankcut::instruction_sets(&n_sets);
    for (size_t set = 0; set < n_sets; ++set) {
        rankcut::use_instruction_set(set);
        for (const size_t k : {1, 2, 3, 6, 8, 11}) {
            const auto w = weights(k, d, false), a = weights(k, n, true);
            std::vector<double> s(k * n), g(k * d);
            for (size_t p = 0; p < k; ++p)
                for (size_t i = 0; i < n; ++i)
                    for (size_t j = 0; j < d; ++j) {
                        s[p * n + i] += w[p * d + j] * x(i, j);
                        g[p * d + j] += a[p * n + i] * x(i, j);
                    }
            for (const int threads : {1, 3}) {
                std::vector<double> scores(k * n, -1.0), pulled(k * d, -1.0);
                rankcut::scores(m, k, w.data(), scores.data(), threads);
                const size_t active = rankcut::pull(m, k, a.data(), pulled.data(), threads);
                CHECK(scores == s);
                CHECK(pulled == g);
                CHECK(active <= n);
            }
        }
    }
    rankcut::use_instruction_set(0);
}

const std::vector<std::pair<size_t, size_t>> kShapes = {
    {0, 3}, {3, 0}, {1, 1}, {1, 9}, {9, 1}, {5, 2}, {7, 8}, {13, 17}, {40, 33}, {300, 70},
    {5000, 9}, {3, 2500}, {9000, 3},
};

// Buffers hold no number more than needed, so that the sanitizer sees any read beyond them.
template <class T>
void check_dense(size_t n, size_t d, bool by_rows) {
    std::vector<T> x(n * d);
    const size_t row = by_rows ? d : 1, column = by_rows ? 1 : n;
    for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < d; ++j) x[i * row + j * column] = static_cast<T>(number(i * d + j));
    const Dense<T> m{x.data(), n, d, static_cast<std::ptrdiff_t>(row),
                     static_cast<std::ptrdiff_t>(column)};
    check_products(m, n, d, [&](size_t i, size_t j) { return static_cast<double>(x[i * row + j * column]); });
}

template <class T, class I>
void check_sparse(size_t n, size_t d, bool by_rows) {
    const size_t n_lines = by_rows ? n : d, length = by_rows ? d : n;
    std::vector<I> starts{0}, index;
    std::vector<T> data;
    std::vector<double> full(n * d);
    for (size_t i = 0; i < n_lines; ++i) {
        const size_t count = length == 0 || i % 5 == 2 ? 0 : (i * 7 + 3) % 12;
        for (size_t e = 0; e < count; ++e) {  // falling, with duplicates
            const size_t at = (length * 2 - 1 - (e * 3 + i) % length) % length;
            index.push_back(static_cast<I>(at));
            data.push_back(static_cast<T>(number(i * 31 + e)));
            full[by_rows ? i * d + at : at * d + i] += static_cast<double>(data.back());
        }
        starts.push_back(static_cast<I>(index.size()));
    }
    const Compressed<T, I> m{starts.data(), index.data(), data.data(), n, d, by_rows};
    CHECK(rankcut::defect(m, data.size()).empty());
    check_products(m, n, d, [&](size_t i, size_t j) { return full[i * d + j]; });
}

}  // namespace

TEST(product_dense) {
    for (const auto& [n, d] : kShapes)
        for (const bool by_rows : {true, false}) {
            check_dense<float>(n, d, by_rows);
            check_dense<double>(n, d, by_rows);
        }
}

TEST(product_sparse) {
    for (const auto& [n, d] : kShapes)
        for (const bool by_rows : {true, false}) {
            check_sparse<float, std::int32_t>(n, d, by_rows);
            check_sparse<double, std::int64_t>(n, d, by_rows);
        }
}

// A column-major matrix few of whose rows weigh something takes a path of its own.
TEST(product_pull_few_rows) {
    const size_t n = 4000, d = 21;
    std::vector<float> x(n * d);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(number(i));
    std::vector<double> a(2 * n), expected(2 * d), g(2 * d);
    for (size_t i = 0; i < n; i += 97) a[i] = number(i), a[n + i + 1] = 1.0;
    size_t n_active = 0;
    for (size_t i = 0; i < n; ++i) {
        n_active += a[i] != 0.0 || a[n + i] != 0.0;
        for (size_t j = 0; j < d; ++j) {
            expected[j] += a[i] * static_cast<double>(x[j * n + i]);
            expected[d + j] += a[n + i] * static_cast<double>(x[j * n + i]);
        }
    }
    const Dense<float> m{x.data(), n, d, 1, static_cast<std::ptrdiff_t>(n)};
    CHECK(rankcut::pull(m, 2, a.data(), g.data(), 2) == n_active);
    CHECK(g == expected);
}

TEST(product_defects) {
    const std::vector<double> data(4);
    const std::vector<std::int32_t> good{0, 2, 2, 4}, falling{0, 3, 2, 4}, late{1, 2, 2, 4},
        beyond{0, 2, 2, 5}, index{0, 4, 1, 1}, high{0, 5, 1, 1}, low{0, 4, -1, 1};
    const auto says = [&](const std::vector<std::int32_t>& starts,
                          const std::vector<std::int32_t>& places, const char* what) {
        const Compressed<double, std::int32_t> m{starts.data(), places.data(), data.data(),
                                                 3, 5, true};
        return rankcut::defect(m, data.size()).find(what) != std::string::npos;
    };
    CHECK(says(good, index, ""));
    CHECK(says(falling, index, "at row 1"));
    CHECK(says(late, index, "starts at 1"));
    CHECK(says(beyond, index, "only 4 entries"));
    CHECK(says(good, high, "row 0 has column index 5"));
    CHECK(says(good, low, "row 2 has column index -1"));
}
