// The whole test framework of the core: register, check, count.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace check {

struct Test {
    const char* name;
    void (*run)();
};
inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}
inline int& failures() {
    static int count = 0;
    return count;
}
struct Register {
    Register(const char* name, void (*run)()) { tests().push_back({name, run}); }
};
inline void that(bool ok, const char* what, const char* file, int line) {
    if (ok) return;
    ++failures();
    std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, what);
}
inline bool near(double a, double b, double tol) {
    return std::abs(a - b) <= tol * (1.0 + std::abs(a) + std::abs(b));
}

}  // namespace check

#define CHECK(expr) ::check::that((expr), #expr, __FILE__, __LINE__)
#define TEST(name)                                              \
    static void name();                                         \
    static const ::check::Register register_##name(#name, name); \
    static void name()
