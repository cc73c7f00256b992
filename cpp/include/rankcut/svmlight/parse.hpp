// Rows as svmlight and LETOR write them, one a line:
//
//     label [qid:ID] index:value … [# comment]
//
// Indices may come in any order, but each at most once a row; empty lines and lines with a comment alone are no
// rows. A text is whole lines: whoever reads a file cuts it behind a line feed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace rankcut::svmlight {

struct Options {
    bool zero_based = false;             // the first column is written as 0, else as 1
    bool comments = false;               // note where they are
    std::int32_t max_columns = INT32_MAX;  // an index beyond is an error
};

// The rows in compressed form: row i has entries row_starts[i] to row_starts[i + 1], its columns from 0 and rising.
struct Rows {
    std::vector<double> labels;
    std::vector<std::int64_t> queries;  // one for each row, or none if no row has any
    std::vector<std::int64_t> row_starts{0};
    std::vector<std::int32_t> columns;
    std::vector<double> values;
    std::vector<std::int64_t> comments;  // from and to for each row (equal without one), if asked for
    std::vector<std::int64_t> lines;     // of each row, from 1 at the start of the text
    std::int64_t n_lines = 0;
    std::int32_t n_columns = 0;  // the last column in use, plus one
};

// Line and column count from 1, the column in bytes.
struct ParseError : std::runtime_error {
    ParseError(std::int64_t line_, std::int64_t column_, const std::string& what)
        : std::runtime_error(what), line(line_), column(column_) {}
    std::int64_t line, column;
};

Rows parse(std::string_view text, const Options& options);

// The double nearest to a decimal number at the start of [begin, end): as Python's float() reads it, but for
// "inf", "nan" and underscores. Returns where it ends, or nullptr if there is none or it overflows.
const char* parse_number(const char* begin, const char* end, double& value);

}  // namespace rankcut::svmlight
