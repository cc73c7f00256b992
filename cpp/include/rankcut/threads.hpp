// Run independent tasks on a few threads.
//
// Results never depend on the number of threads: callers cut the work into tasks whose borders
// depend on the data alone, and combine the tasks' results in task order afterwards.
// Threads live for one call, so that forking the process between calls is safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace rankcut {

template <class Task>
void parallel_for(std::size_t n_tasks, int n_threads, Task&& task) {
    const std::size_t workers = n_threads < 1 ? 1 : static_cast<std::size_t>(n_threads);
    if (workers == 1 || n_tasks < 2) {
        for (std::size_t i = 0; i < n_tasks; ++i) task(i);
        return;
    }
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex guard;
    auto work = [&] {
        for (std::size_t i = next.fetch_add(1); i < n_tasks; i = next.fetch_add(1)) {
            try {
                task(i);
            } catch (...) {
                const std::lock_guard<std::mutex> lock(guard);
                if (!failure) failure = std::current_exception();
                next.store(n_tasks);
            }
        }
    };
    std::vector<std::thread> threads;
    try {
        for (std::size_t t = 1; t < workers && t < n_tasks; ++t) threads.emplace_back(work);
    } catch (const std::system_error&) {
        // No more threads to be had: those that started, and this one, do all the work.
    }
    work();
    for (auto& thread : threads) thread.join();
    if (failure) std::rethrow_exception(failure);
}

// Below this many numbers of a simple pass, starting threads costs more than it saves.
inline constexpr std::size_t worth_a_thread = std::size_t{1} << 17;

// task(block, begin, end) for the blocks of n numbers, whose borders depend on n alone.
inline constexpr std::size_t block_length = std::size_t{1} << 15;
template <class Task>
void in_blocks(std::size_t n, int n_threads, Task&& task) {
    parallel_for((n + block_length - 1) / block_length, n < worth_a_thread ? 1 : n_threads, [&](std::size_t block) {
        task(block, block * block_length, std::min(n, (block + 1) * block_length));
    });
}

}  // namespace rankcut
