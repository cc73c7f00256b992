#include <array>
#include <charconv>
#include <cmath>
#include <locale>
#include <sstream>
#include <string>

#include "rankcut/svmlight/parse.hpp"

namespace rankcut::svmlight {
namespace {

constexpr int most_digits = 19;  // that fit in 64 bits whatever they are
constexpr std::uint64_t exact_integers = std::uint64_t{1} << 53;
constexpr int exact_powers = 22;  // 10^22 is the last power of ten that is a double

constexpr std::array<double, exact_powers + 1> powers = [] {
    std::array<double, exact_powers + 1> all{};
    double power = 1.0;
    for (double& each : all) {
        each = power;
        power *= 10.0;
    }
    return all;
}();

bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Any decimal number, correctly rounded; its exponent says whether what does not fit is too large or too small.
bool rounded(const char* begin, const char* end, double& value) {
#ifdef __cpp_lib_to_chars
    const auto found = std::from_chars(begin, end, value);
    return found.ec == std::errc() && found.ptr == end;
#else
    std::istringstream stream(std::string(begin, end));
    stream.imbue(std::locale::classic());
    stream >> value;
    return !stream.fail();
#endif
}

}  // namespace

const char* parse_number(const char* begin, const char* end, double& value) {
    const char* at = begin;
    const bool negative = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) ++at;
    const char* const unsigned_begin = at;
    std::uint64_t digits = 0;
    int n_digits = 0;        // leading zeros not counted
    std::int64_t exponent = 0;  // of the digits read as a whole number
    bool any = false;
    for (; at != end && is_digit(*at); ++at) {
        any = true;
        if (n_digits < most_digits) {
            digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
            n_digits += digits != 0;
        } else {
            ++n_digits;
            ++exponent;
        }
    }
    if (at != end && *at == '.') {
        for (++at; at != end && is_digit(*at); ++at) {
            any = true;
            if (n_digits < most_digits) {
                digits = 10 * digits + static_cast<std::uint64_t>(*at - '0');
                n_digits += digits != 0;
                --exponent;
            } else {
                ++n_digits;
            }
        }
    }
    if (!any) return nullptr;
    if (at != end && (*at == 'e' || *at == 'E')) {
        ++at;
        const bool down = at != end && *at == '-';
        if (at != end && (*at == '-' || *at == '+')) ++at;
        if (at == end || !is_digit(*at)) return nullptr;
        std::int64_t written = 0;
        for (; at != end && is_digit(*at); ++at) {
            if (written < 1'000'000'000) written = 10 * written + (*at - '0');
        }
        exponent += down ? -written : written;
    }
    if (digits == 0) {
        value = 0.0;
    } else if (n_digits <= most_digits && digits <= exact_integers && exponent >= -exact_powers &&
               exponent <= exact_powers) {
        // Both are doubles, so that a single rounding gives the nearest one (Clinger 1990).
        const auto whole = static_cast<double>(digits);
        value = exponent < 0 ? whole / powers[static_cast<std::size_t>(-exponent)]
                             : whole * powers[static_cast<std::size_t>(exponent)];
    } else if (!rounded(unsigned_begin, at, value)) {
        if (exponent + n_digits > 0) return nullptr;  // too large for a double
        value = 0.0;
    }
    if (!std::isfinite(value)) return nullptr;
    if (negative) value = -value;
    return at;
}

}  // namespace rankcut::svmlight
