// Compiles the kernels for each instruction set and picks one when the program runs.
//
// The compiler attribute target_clones does less: its clones share one width of vectors and one number
// of registers, it needs support by the C library that not all have, and sanitizers dislike it. Chosen
// like this, every instruction set of the machine can be tested, sanitizers and all.
#include "product_kernels.hpp"

#include <algorithm>
#include <atomic>
#include <vector>

#include "rankcut/product.hpp"

#if defined(__GNUC__) && defined(__x86_64__)
#define RANKCUT_X86 1
#include <immintrin.h>
#if !defined(__clang__)  // GCC takes its own "undefined" vectors in immintrin.h for a mistake
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#endif

// Loops over the registers of a tile must be gone before the compiler decides what to keep in them.
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#elif defined(__GNUC__)
#define UNROLL _Pragma("GCC unroll 8")
#else
#define UNROLL
#endif

namespace rankcut::product {

// What every machine has: 128-bit vectors, which arm64 has 32 registers for.
namespace base {
#define TARGET
#define LANES 2
#if defined(__aarch64__)
#define TILE 4
#define DOTS_PROBLEMS 6
#else
#define TILE 2
#define DOTS_PROBLEMS 3
#endif
#include "product_vector.inc"
#include "product_dense.inc"
#include "product_sparse.inc"
#undef TARGET
#undef LANES
#undef TILE
#undef DOTS_PROBLEMS
}  // namespace base

#if defined(RANKCUT_X86)
namespace avx2 {
#define TARGET __attribute__((target("avx2,fma")))
#define LANES 4
#define TILE 2
#define DOTS_PROBLEMS 3
#include "product_vector.inc"
#include "product_dense.inc"
#include "product_sparse.inc"
#undef TARGET
#undef LANES
#undef TILE
#undef DOTS_PROBLEMS
}  // namespace avx2

namespace avx512 {
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx2,fma")))
#define LANES 8
#define TILE 4
#define DOTS_PROBLEMS 6
#include "product_vector.inc"
#include "product_dense.inc"
#include "product_sparse.inc"
#undef TARGET
#undef LANES
#undef TILE
#undef DOTS_PROBLEMS
}  // namespace avx512
#endif

namespace {

struct Choice {
    const char* name;
    Kernels kernels;
};

// Best first.
const std::vector<Choice>& choices() {
    static const std::vector<Choice> all = [] {
        std::vector<Choice> found;
#if defined(RANKCUT_X86)
        __builtin_cpu_init();
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
            found.push_back({"avx512", avx512::table()});
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
            found.push_back({"avx2", avx2::table()});
#endif
        found.push_back({"base", base::table()});
        return found;
    }();
    return all;
}

std::atomic<std::size_t> chosen{0};

}  // namespace

const Kernels& kernels() { return choices()[chosen.load()].kernels; }

std::size_t count_active(std::size_t n_problems, std::size_t n, const double* b) {
    constexpr std::size_t kBlock = 4096;
    bool active[kBlock];
    std::size_t count = 0;
    for (std::size_t first = 0; first < n; first += kBlock) {
        const std::size_t here = n - first < kBlock ? n - first : kBlock;
        std::fill_n(active, here, false);
        for (std::size_t p = 0; p < n_problems; ++p)
            for (std::size_t i = 0; i < here; ++i)
                active[i] |= b[p * n + first + i] != 0.0;
        for (std::size_t i = 0; i < here; ++i) count += active[i];
    }
    return count;
}

}  // namespace rankcut::product

namespace rankcut {

const char* const* instruction_sets(std::size_t* count) {
    static const std::vector<const char*> names = [] {
        std::vector<const char*> all;
        for (const auto& choice : product::choices()) all.push_back(choice.name);
        return all;
    }();
    *count = names.size();
    return names.data();
}

void use_instruction_set(std::size_t which) {
    if (which < product::choices().size()) product::chosen.store(which);
}

}  // namespace rankcut
