#include "check.hpp"

int main() {
    int failed = 0;
    for (const auto& test : check::tests()) {
        const int before = check::failures();
        test.run();
        if (check::failures() != before) ++failed;
    }
    const int total = static_cast<int>(check::tests().size());
    std::printf("%d passed, %d failed\n", total - failed, failed);
    return failed == 0 && total > 0 ? 0 : 1;
}
