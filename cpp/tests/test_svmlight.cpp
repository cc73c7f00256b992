#include "rankcut/svmlight/parse.hpp"

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "check.hpp"

using namespace rankcut::svmlight;

namespace {

double number(const std::string& text) {
    double value = std::numeric_limits<double>::quiet_NaN();
    const char* end = parse_number(text.data(), text.data() + text.size(), value);
    return end == text.data() + text.size() ? value : std::numeric_limits<double>::quiet_NaN();
}

std::string complaint(const std::string& text, const Options& options = {}) {
    try {
        parse(text, options);
    } catch (const ParseError& error) {
        return std::to_string(error.line) + ":" + std::to_string(error.column) + " " + error.what();
    }
    return "";
}

}  // namespace

TEST(numbers_are_the_nearest_doubles) {
    for (const char* text : {"0", "-0", "+1", "1.", ".5", "1e3", "1E-3", "0.1", "123456789012345678901234567890",
                             "2.2250738585072014e-308", "4.9e-324", "1.7976931348623157e308", "9007199254740993",
                             "0.000000000000000000000000000000000000000000001", "1e-400", "0e999999999999",
                             "8.98846567431158e307", "100000000000000000000000e-23", "1e22", "1e23"}) {
        CHECK(number(text) == std::strtod(text, nullptr));
        CHECK(std::signbit(number(text)) == (text[0] == '-'));
    }
    std::mt19937_64 random(0);
    for (int i = 0; i < 20'000; ++i) {
        std::string text = random() % 2 ? "-" : "";
        for (auto n = random() % 22; n > 0; --n) text += static_cast<char>('0' + random() % 10);
        text += ".";
        for (auto n = random() % 22; n > 0; --n) text += static_cast<char>('0' + random() % 10);
        text += "7";
        if (random() % 2) text += "e" + std::to_string(static_cast<int>(random() % 640) - 320);
        const double expected = std::strtod(text.c_str(), nullptr);
        if (std::isfinite(expected)) {
            CHECK(number(text) == expected);
        } else {
            CHECK(std::isnan(number(text)));
        }
    }
}

TEST(what_is_no_number_is_refused) {
    for (const char* text : {"", "-", "+", ".", "e5", "1e", "1e+", "nan", "inf", "1e400", "-1e99999999999", "1x", "0x10",
                             "--1", "1_0", "1,5"}) {
        CHECK(std::isnan(number(text)));
    }
}

TEST(rows_of_svmlight) {
    const auto rows = parse("1 qid:7 1:0.5 3:-2e1 # doc = a b \r\n\n# alone\n-1\tqid:8 2:1", {.comments = true});
    CHECK((rows.labels == std::vector<double>{1, -1}));
    CHECK((rows.queries == std::vector<std::int64_t>{7, 8}));
    CHECK((rows.row_starts == std::vector<std::int64_t>{0, 2, 3}));
    CHECK((rows.columns == std::vector<std::int32_t>{0, 2, 1}));
    CHECK((rows.values == std::vector<double>{0.5, -20, 1}));
    CHECK((rows.lines == std::vector<std::int64_t>{1, 4}));
    CHECK(rows.n_lines == 4);
    CHECK(rows.n_columns == 3);
    CHECK(rows.comments[1] - rows.comments[0] == 9);
    CHECK(rows.comments[3] == rows.comments[2]);
    CHECK(parse("", {}).labels.empty());
    CHECK(parse("3 1:1\n", {}).queries.empty());
}

TEST(columns_are_put_in_order) {
    const auto rows = parse("1 5:5 2:2 9:9 1:1\n", {});
    CHECK((rows.columns == std::vector<std::int32_t>{0, 1, 4, 8}));
    CHECK((rows.values == std::vector<double>{1, 2, 5, 9}));
    CHECK((parse("1 0:4\n", {.zero_based = true}).columns == std::vector<std::int32_t>{0}));
}

TEST(errors_say_where) {
    CHECK(complaint("1 1:1\nx 1:1\n") == "2:1 a label that is no finite number: 'x'");
    CHECK(complaint("1 1:1 2:y\n") == "1:9 a value that is no finite number: '2:y'");
    CHECK(complaint("1 1:1 oops\n") == "1:7 expected index:value, came 'oops'");
    CHECK(complaint("1 1:\n") == "1:5 a value that is no finite number: '1:'");
    CHECK(complaint("1 qid:a 1:1\n") == "1:3 a query that is no whole number: 'qid:a'");
    CHECK(complaint("1 qid:1 1:1\n1 1:1\n") == "2:3 no qid, which the rows before have");
    CHECK(complaint("1 1:1\n1 qid:1 1:1\n") == "2:3 a qid, which the rows before do not have");
    CHECK(complaint("1 2:1 1:1 2:3\n") == "1:1 index 2 comes twice");
    CHECK(complaint("1 0:1\n").starts_with("1:3 index 0"));
    CHECK(complaint("1 3:1\n", {.max_columns = 2}) == "1:3 index 3, but there are 2 columns only");
    CHECK(complaint("1 99999999999:1\n").starts_with("1:3 expected"));
    CHECK(complaint("1:1 2:1\n").starts_with("1:1 a label"));
    CHECK(complaint("1 1:nan\n").starts_with("1:5 a value"));
}

TEST(any_text_ends_in_rows_or_in_an_error) {
    std::mt19937_64 random(1);
    const std::string_view alphabet("0123456789:.eE+-#qid \t\r\n\0\xff", 26);
    for (int i = 0; i < 20'000; ++i) {
        std::string text;
        for (auto n = random() % 60; n > 0; --n) text += alphabet[random() % alphabet.size()];
        try {
            const auto rows = parse(text, {.comments = true});
            CHECK(rows.row_starts.size() == rows.labels.size() + 1);
            CHECK(rows.values.size() == rows.columns.size());
            CHECK(static_cast<std::size_t>(rows.row_starts.back()) == rows.values.size());
        } catch (const ParseError& error) {
            CHECK(error.line >= 1 && error.column >= 1);
        }
    }
}
