#include "rankcut/svmlight/parse.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace rankcut::svmlight {
namespace {

constexpr std::size_t most_shown = 24;  // bytes of a token that an error repeats

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
bool ends_token(const char* at, const char* end) { return at == end || is_blank(*at) || *at == '#'; }

class Parser {
public:
    Parser(std::string_view text, const Options& options)
        : text_begin_(text.data()), text_end_(text.data() + text.size()), options_(options) {}

    Rows run() {
        for (const char* line = text_begin_; line != text_end_;) {
            ++rows_.n_lines;
            const auto left = static_cast<std::size_t>(text_end_ - line);
            const void* found = std::memchr(line, '\n', left);
            end_ = found ? static_cast<const char*>(found) : text_end_;
            line_ = at_ = line;
            row();
            line = found ? end_ + 1 : text_end_;
        }
        if (!has_queries_) rows_.queries.clear();
        return std::move(rows_);
    }

private:
    void row() {
        skip_blanks();
        if (at_ == end_ || *at_ == '#') return;
        double label;
        const char* const token = at_;
        at_ = parse_number(token, end_, label);
        if (!at_ || !ends_token(at_, end_)) fail(token, "a label that is no finite number: " + shown(token));
        skip_blanks();
        query();
        entries();
        rows_.labels.push_back(label);
        rows_.lines.push_back(rows_.n_lines);
        rows_.row_starts.push_back(static_cast<std::int64_t>(rows_.columns.size()));
        if (options_.comments) comment();
    }

    void query() {
        std::int64_t id = 0;
        const char* const token = at_;
        const bool given = end_ - at_ >= 4 && std::memcmp(at_, "qid:", 4) == 0;
        if (given) {
            at_ += 4;
            if (!whole(id, INT64_MAX) || !ends_token(at_, end_)) {
                fail(token, "a query that is no whole number: " + shown(token));
            }
            skip_blanks();
        }
        if (rows_.labels.empty()) has_queries_ = given;
        if (given != has_queries_) {
            fail(token, given ? "a qid, which the rows before do not have" : "no qid, which the rows before have");
        }
        rows_.queries.push_back(id);
    }

    void entries() {
        const std::size_t first = rows_.columns.size();
        std::int32_t last = -1;
        bool rising = true;
        while (at_ != end_ && *at_ != '#') {
            const char* const token = at_;
            std::int64_t index;
            if (!whole(index, INT32_MAX) || at_ == end_ || *at_ != ':') {
                fail(token, "expected index:value, came " + shown(token));
            }
            if (!options_.zero_based && --index < 0) {
                fail(token, "index 0, but indices count from 1 here; if the file counts from 0, say zero_based");
            }
            if (index >= options_.max_columns) {
                fail(token, "index " + std::to_string(index + !options_.zero_based) + ", but there are " +
                                std::to_string(options_.max_columns) + " columns only");
            }
            double value;
            const char* const number = ++at_;
            at_ = parse_number(number, end_, value);
            if (!at_ || !ends_token(at_, end_)) fail(number, "a value that is no finite number: " + shown(token));
            const auto column = static_cast<std::int32_t>(index);
            rising = rising && column > last;
            last = column;
            rows_.n_columns = std::max(rows_.n_columns, column + 1);
            rows_.columns.push_back(column);
            rows_.values.push_back(value);
            skip_blanks();
        }
        if (!rising) sort(first);
    }

    void sort(std::size_t first) {
        const std::size_t size = rows_.columns.size() - first;
        std::vector<std::size_t> order(size);
        std::iota(order.begin(), order.end(), first);
        std::sort(order.begin(), order.end(),
                  [&](std::size_t a, std::size_t b) { return rows_.columns[a] < rows_.columns[b]; });
        std::vector<std::int32_t> columns(size);
        std::vector<double> values(size);
        for (std::size_t i = 0; i < size; ++i) {
            columns[i] = rows_.columns[order[i]];
            values[i] = rows_.values[order[i]];
            if (i > 0 && columns[i] == columns[i - 1]) {
                fail(line_, "index " + std::to_string(columns[i] + !options_.zero_based) + " comes twice");
            }
        }
        std::copy(columns.begin(), columns.end(), rows_.columns.begin() + static_cast<std::ptrdiff_t>(first));
        std::copy(values.begin(), values.end(), rows_.values.begin() + static_cast<std::ptrdiff_t>(first));
    }

    void comment() {
        const char* from = at_ == end_ ? end_ : at_ + 1;
        const char* to = end_;
        while (from != to && is_blank(*from)) ++from;
        while (from != to && is_blank(to[-1])) --to;
        rows_.comments.push_back(from - text_begin_);
        rows_.comments.push_back(to - text_begin_);
    }

    // Digits only, at most `largest`; leaves at_ behind them.
    bool whole(std::int64_t& number, std::int64_t largest) {
        const char* const begin = at_;
        number = 0;
        for (; at_ != end_ && *at_ >= '0' && *at_ <= '9'; ++at_) {
            const int digit = *at_ - '0';
            if (number > (largest - digit) / 10) return false;
            number = 10 * number + digit;
        }
        return at_ != begin;
    }

    void skip_blanks() {
        while (at_ != end_ && is_blank(*at_)) ++at_;
    }

    // The token in printable ASCII: what is not may be anything, half a letter too.
    std::string shown(const char* token) const {
        std::string found;
        for (const char* at = token; !ends_token(at, end_) && found.size() < most_shown; ++at) {
            found += *at >= ' ' && *at <= '~' ? *at : '?';
        }
        return found.empty() ? "nothing" : "'" + found + "'";
    }

    [[noreturn]] void fail(const char* where, const std::string& what) const {
        throw ParseError(rows_.n_lines, where - line_ + 1, what);
    }

    const char *text_begin_, *text_end_;
    const Options options_;
    const char *line_ = nullptr, *at_ = nullptr, *end_ = nullptr;
    bool has_queries_ = false;
    Rows rows_;
};

}  // namespace

Rows parse(std::string_view text, const Options& options) { return Parser(text, options).run(); }

}  // namespace rankcut::svmlight
