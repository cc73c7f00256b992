#include "rankcut/threads.hpp"

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>

#include "check.hpp"

using rankcut::parallel_for;

TEST(every_task_runs_once) {
    for (const std::size_t n_tasks : {0, 1, 2, 3, 100, 5000}) {
        for (const int n_threads : {-1, 0, 1, 2, 3, 8, 40}) {
            std::vector<int> runs(n_tasks, 0);
            parallel_for(n_tasks, n_threads, [&](std::size_t i) { ++runs[i]; });
            CHECK(std::accumulate(runs.begin(), runs.end(), std::size_t{0}) == n_tasks);
            for (const int count : runs) CHECK(count == 1);
        }
    }
}

TEST(no_more_threads_than_asked_for) {
    for (const int n_threads : {1, 2, 3}) {
        std::atomic<int> now{0}, most{0};
        parallel_for(200, n_threads, [&](std::size_t) {
            const int here = ++now;
            int before = most.load();
            while (before < here && !most.compare_exchange_weak(before, here)) {
            }
            std::this_thread::yield();
            --now;
        });
        CHECK(most.load() <= n_threads);
    }
}

TEST(an_error_reaches_the_caller_and_ends_the_work) {
    for (const int n_threads : {1, 2, 8}) {
        std::atomic<int> done{0};
        bool caught = false;
        try {
            parallel_for(5'000, n_threads, [&](std::size_t i) {
                if (i == 10) throw std::runtime_error("task 10");
                // Slow enough that the error is noted long before the others could finish without it.
                if (i > 10) std::this_thread::sleep_for(std::chrono::milliseconds(1));
                ++done;
            });
        } catch (const std::runtime_error& error) {
            caught = std::string(error.what()) == "task 10";
        }
        CHECK(caught);
        CHECK(done.load() < 5'000 - 1);
        int again = 0;
        parallel_for(1, n_threads, [&](std::size_t) { ++again; });
        CHECK(again == 1);
    }
}

TEST(tasks_may_have_tasks) {
    std::vector<int> sums(20, 0);
    parallel_for(sums.size(), 3, [&](std::size_t i) {
        std::atomic<int> sum{0};
        parallel_for(50, 2, [&](std::size_t) { ++sum; });
        sums[i] = sum;
    });
    for (const int sum : sums) CHECK(sum == 50);
}
