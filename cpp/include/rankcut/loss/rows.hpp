// Between the rows of the data and the compact order of the losses, in which each list's positives come first.
#pragma once

#include <cstddef>

namespace rankcut {

// The rows of one list: the relevant ones, then the others. Returns how many are relevant.
template <class I>
std::size_t partition(const bool* relevant, std::size_t n, I* order);

// out[i] = values[order[i]], and out[order[i]] = values[i].
template <class I>
void gather(const double* values, const I* order, std::size_t n, double* out, int n_threads);
template <class I>
void scatter(const double* values, const I* order, std::size_t n, double* out, int n_threads);

}  // namespace rankcut
