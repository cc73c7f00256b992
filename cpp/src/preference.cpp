#include "rankcut/loss/preference.hpp"

#include <algorithm>
#include <cmath>

#include "rankcut/compensated.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {
namespace {

constexpr std::size_t large = 1 << 16;   // a list that all threads share
constexpr std::size_t stretch = 1 << 14;  // of samples, for one thread at a time
constexpr double beside = 0.25;          // how far from the kink the slack's curvature looks

// −Σ α_i (y_i − centre): δ of weights that count pairs.
double delta_of(const double* alpha, const double* y, double centre, std::size_t n) {
    Compensated delta;
    for (std::size_t i = 0; i < n; ++i) delta.add(-alpha[i] * (y[i] - centre));
    return delta.sum();
}

}  // namespace

PreferenceRisk::PreferenceRisk(std::vector<std::size_t> offsets, std::vector<double> y,
                               std::vector<std::size_t> above, Rescaling rescaling, double share)
    : Risk(offsets.back()), rescaling_(rescaling), y_(std::move(y)), deltas_(above.size()) {
    if (rescaling_ == Rescaling::margin) group_end_.resize(size());
    for (std::size_t l = 0; l < above.size(); ++l) {
        const std::size_t begin = offsets[l], n = offsets[l + 1] - begin;
        One list{begin, n, above[l], 0.5 * y_[begin] + 0.5 * y_[begin + n - 1], 0.0, true};
        double pairs = 0.0;
        for (std::size_t first = 0, end; first < n; first = end) {
            end = first < list.above ? list.above : n;
            if (list.above == 0)
                for (end = first + 1; end < n && y_[begin + end] == y_[begin + first];) ++end;
            pairs += static_cast<double>(end - first) * static_cast<double>(n - end);
            if (end - first > 1) list.distinct = false;
            if (rescaling_ == Rescaling::margin)
                std::fill(&group_end_[begin] + first, &group_end_[begin] + end, static_cast<std::uint32_t>(end));
        }
        list.scale = share / pairs;
        lists_.push_back(list);
    }
    // Batches of lists of similar size; their borders do not depend on the number of threads.
    constexpr std::size_t most = 16, least = 4096;
    const std::size_t enough = std::max(least, size() / most + 1);
    batches_.push_back(0);
    for (std::size_t l = 0, begin = 0; l < lists_.size(); ++l) {
        if (offsets[l + 1] - begin < enough && l + 1 < lists_.size()) continue;
        batches_.push_back(l + 1);
        begin = offsets[l + 1];
    }
    work_.resize(batches_.size() - 1);
}

// Small lists in parallel; large ones one after the other, each with all threads.
template <class Task>
void PreferenceRisk::each_list(int n_threads, Task&& task) {
    for (std::size_t l = 0; l < lists_.size(); ++l)
        if (lists_[l].n >= large) task(l, work_[0], n_threads);
    parallel_for(work_.size(), n_threads, [&](std::size_t batch) {
        for (std::size_t l = batches_[batch]; l < batches_[batch + 1]; ++l)
            if (lists_[l].n < large) task(l, work_[batch], 1);
    });
}

double PreferenceRisk::evaluate(const double* z, double* alpha, int n_threads) {
    each_list(n_threads, [&](std::size_t l, Work& work, int threads) {
        const One& list = lists_[l];
        double* const out = alpha + list.begin;
        const double delta = rescaling_ == Rescaling::slack ? slack(list, z + list.begin, out, work, threads)
                                                            : margin(list, z + list.begin, out, work);
        deltas_[l] = delta * list.scale;
        for (std::size_t i = 0; i < list.n; ++i) out[i] *= list.scale;
    });
    Compensated delta;
    for (const double part : deltas_) delta.add(part);
    return delta.sum();
}

void PreferenceRisk::curvature(const double* z, const double*, double* weight, int n_threads) {
    each_list(n_threads, [&](std::size_t l, Work& work, int threads) {
        const One& list = lists_[l];
        if (rescaling_ == Rescaling::slack) {
            slack_curvature(list, z + list.begin, weight + list.begin, work, threads);
        } else {
            margin_curvature(list, z + list.begin, weight + list.begin, work);
        }
    });
}

// Fills the tree: samples by falling score, each with the first that is less than `kink` above it and the first that is
// at least as much below it. Both rise with the rank.
void PreferenceRisk::rank(const One& list, const double* z, double kink, Work& work, int n_threads) const {
    const std::size_t n = list.n;
    work.order.sort_all(z, n, work.sort);
    auto& score = work.score;
    auto& items = work.tree.items;
    score.resize(n);
    items.resize(n);
    const std::size_t parts = (n + stretch - 1) / stretch;
    const auto in_parts = [&](auto&& task) {
        parallel_for(parts, n_threads, [&](std::size_t p) { task(p * stretch, std::min(n, (p + 1) * stretch)); });
    };
    in_parts([&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            const std::uint32_t place = work.order[r];
            score[r] = z[place];
            items[r] = {place, 0, 0, y_[list.begin + place] - list.centre, 0.0};
        }
    });
    in_parts([&](std::size_t first, std::size_t last) {
        const auto begin = score.begin();
        const double top = score[first];
        const auto above = std::partition_point(begin, score.end(), [&](double s) { return s - top >= kink; });
        const auto below = std::partition_point(begin, score.end(), [&](double s) { return top - s < kink; });
        auto from = static_cast<std::size_t>(above - begin), until = static_cast<std::size_t>(below - begin);
        for (std::size_t r = first; r < last; ++r) {
            while (score[from] - score[r] >= kink) ++from;
            while (until < n && score[r] - score[until] < kink) ++until;
            items[r].from = static_cast<std::uint32_t>(from);
            items[r].until = static_cast<std::uint32_t>(until);
        }
    });
}

double PreferenceRisk::slack(const One& list, const double* z, double* alpha, Work& work, int n_threads) const {
    rank(list, z, 1.0, work, n_threads);
    constexpr auto plain = PreferenceTree::Sum::plain;
    return list.above == 0 ? work.tree.all(&y_[list.begin], alpha, plain, n_threads)
                           : work.tree.between(list.above, alpha, plain, n_threads);
}

void PreferenceRisk::slack_curvature(const One& list, const double* z, double* weight, Work& work,
                                     int n_threads) const {
    constexpr auto absolute = PreferenceTree::Sum::absolute;
    std::vector<double> inner(list.n);
    for (double* const out : {inner.data(), weight}) {
        rank(list, z, out == weight ? 1.0 + beside : 1.0 - beside, work, n_threads);
        list.above == 0 ? work.tree.all(&y_[list.begin], out, absolute, n_threads)
                        : work.tree.between(list.above, out, absolute, n_threads);
    }
    for (std::size_t i = 0; i < list.n; ++i)
        weight[i] = std::max(0.0, weight[i] - inner[i]) * (list.scale / (2.0 * beside));
}

// Places by falling z − y, exactly: where rounding makes two equal its error decides, and then y, higher first.
void PreferenceRisk::rank_shifted(const One& list, const double* z, Work& work) const {
    const double* const y = &y_[list.begin];
    auto& shifted = work.score;
    shifted.resize(list.n);
    for (std::size_t i = 0; i < list.n; ++i) shifted[i] = z[i] - y[i];
    work.order.sort_all(shifted.data(), list.n, work.sort);
    work.ranked.resize(list.n);
    for (std::size_t r = 0; r < list.n; ++r) work.ranked[r] = work.order[r];
    const auto lost = [&](std::uint32_t i) {  // z_i − y_i = shifted_i + lost(i)
        const double back = shifted[i] - z[i];
        return (z[i] - (shifted[i] - back)) - (y[i] + back);
    };
    for (const auto& [begin, end] : work.sort.ties)
        std::stable_sort(work.ranked.begin() + static_cast<std::ptrdiff_t>(begin),
                         work.ranked.begin() + static_cast<std::ptrdiff_t>(end),
                         [&](std::uint32_t a, std::uint32_t b) { return lost(a) > lost(b); });
}

// A preference is violated if z_j − y_j > z_i − y_i. So α_i, the better samples with lower z − y less the worse ones with
// higher z − y, is the number of all samples with lower z − y less that of all worse ones: those below in both drop
// out. No divide and conquer is needed. Ties in z − y are broken by y, and samples of i's own group do not count.
double PreferenceRisk::margin(const One& list, const double* z, double* alpha, Work& work) const {
    const std::size_t n = list.n;
    rank_shifted(list, z, work);
    const std::uint32_t* const group_end = &group_end_[list.begin];
    work.seen.assign(list.distinct ? 0 : n, 0);
    for (std::size_t lower = 0; lower < n; ++lower) {
        const std::uint32_t i = work.ranked[n - 1 - lower];
        const std::size_t end = list.distinct ? i + 1 : group_end[i];
        const std::size_t own = list.distinct ? 0 : work.seen[end - 1]++;
        alpha[i] = static_cast<double>(lower - own) - static_cast<double>(n - end);
    }
    return delta_of(alpha, &y_[list.begin], list.centre, n);
}

void PreferenceRisk::margin_curvature(const One& list, const double* z, double* weight, Work& work) const {
    const std::size_t n = list.n;
    rank_shifted(list, z, work);
    const std::uint32_t* const group_end = &group_end_[list.begin];
    const auto reach = std::max<std::size_t>(2, static_cast<std::size_t>(std::sqrt(static_cast<double>(n))));
    auto& near = work.seen;  // of each group, how many are within reach
    near.assign(n, 0);
    const auto group = [&](std::size_t r) { return group_end[work.ranked[r]] - 1; };
    std::size_t first = 0, last = 0;
    for (std::size_t r = 0; r < n; ++r) {
        while (last < std::min(n, r + reach + 1)) ++near[group(last++)];
        while (first + reach < r) --near[group(first++)];
        const double run = work.score[work.ranked[first]] - work.score[work.ranked[last - 1]];
        const auto others = static_cast<double>(last - first - near[group(r)]);
        weight[work.ranked[r]] = run > 0 ? others / run * list.scale : 0.0;
    }
}

}  // namespace rankcut
