#include "rankcut/loss/preference_tree.hpp"

#include <algorithm>
#include <bit>

#include "rankcut/compensated.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {
namespace {

constexpr unsigned chunk_bits = 12;
constexpr std::size_t chunk = std::size_t{1} << chunk_bits;  // sums start anew, so that they stay accurate
constexpr std::size_t few = 32;                              // all pairs are faster than halving
constexpr std::size_t within_cache = chunk;                   // a subtree that one thread takes to its end

// Where the places [begin, end), at least one, are cut: between two values of y, as near to the middle as can be; `end` if
// all are equal.
std::size_t cut(const double* y, std::size_t begin, std::size_t end) {
    if (end - begin == 1) return end;
    const std::size_t middle = begin + (end - begin) / 2;
    if (y[middle - 1] > y[middle]) return middle;
    const auto falls = [](double a, double b) { return a > b; };
    const std::size_t low = static_cast<std::size_t>(std::lower_bound(y + begin, y + middle, y[middle], falls) - y);
    const std::size_t high = static_cast<std::size_t>(std::upper_bound(y + middle, y + end, y[middle], falls) - y);
    if (low == begin) return high;
    return high == end || middle - low <= high - middle ? low : high;
}

// Without a branch, which half of all samples would mispredict.
double kept_if(std::uint64_t condition, double value) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) & (0 - condition));
}

// The preferences of a few samples, pair by pair. Those of equal y weigh nothing.
double every_pair(Ranked* items, std::size_t n, double sign) {
    double y[few], alpha[few];
    for (std::size_t i = 0; i < n; ++i) y[i] = items[i].y, alpha[i] = 0.0;
    double delta = 0.0;
    for (std::size_t i = 0; i < n; ++i) {
        double sum = 0.0;
        const double mine = y[i];
        const std::size_t until = items[i].until;
        for (std::size_t j = 0; j < until; ++j) {
            const double more = mine > y[j] ? mine - y[j] : 0.0;
            alpha[j] += more;
            sum += more;
        }
        alpha[i] -= sign * sum;
        delta += sum;
    }
    for (std::size_t i = 0; i < n; ++i) items[i].alpha += alpha[i];
    return delta;
}

// All preferences of the node are violated: α = Σ y' − n·y, and y of rank r counts n − 1 − 2r times in Σ (y_i − y_j).
double all_violated(Ranked* items, std::size_t begin, std::size_t n) {
    const double size = static_cast<double>(n);
    double sum = 0.0, delta = 0.0;
    for (std::size_t first = 0; first < n; first += chunk) {
        double part_sum = 0.0, part_delta = 0.0;
        for (std::size_t i = first; i < std::min(n, first + chunk); ++i) {
            part_sum += items[i].y;
            part_delta += items[i].y * (size - 1.0 - 2.0 * static_cast<double>(items[i].place - begin));
        }
        sum += part_sum;
        delta += part_delta;
    }
    for (std::size_t i = 0; i < n; ++i) items[i].alpha += sum - size * items[i].y;
    return delta;
}

}  // namespace

double PreferenceTree::between(std::size_t above, double* alpha, Sum kind, int n_threads) {
    sign_ = kind == Sum::plain ? 1.0 : -1.0;
    const auto cut_at = static_cast<std::uint32_t>(above);
    const double delta = split(buffers(false), items.size(), {{0, cut_at, cut_at, cut_at}}, n_threads);
    for (const Ranked& item : spare_) alpha[item.place] = item.alpha;
    return delta;
}

// Large nodes first, each streamed by all threads; then the subtrees that fit the cache, each by one thread.
double PreferenceTree::all(const double* y, double* alpha, Sum kind, int n_threads) {
    sign_ = kind == Sum::plain ? 1.0 : -1.0;
    spare_.resize(items.size());
    std::vector<Node> open{{0, items.size(), false}}, small;
    std::vector<std::size_t> places;  // of the prefixes of each small node, one more than its samples
    std::size_t used = 0;
    Compensated delta;
    while (!open.empty()) {
        const Node node = open.back();
        open.pop_back();
        const std::size_t n = node.end - node.begin;
        if (n <= within_cache) {
            places.push_back(used);
            used += n + 1;
            small.push_back(node);
            continue;
        }
        Buffers at = buffers(node.swapped);
        at.now += node.begin;
        at.next += node.begin;
        double found = 0.0;
        if (!finish(at.now, node.begin, node.end, y, alpha, found)) {
            const Cuts cuts = quarters(y, node.begin, node.end);
            found = split(at, n, cuts, n_threads);
            for (std::size_t q = 0; q < 4; ++q) {
                const std::size_t end = q < 3 ? cuts.at[q + 1] : node.end;
                if (cuts.at[q] < end) open.push_back({cuts.at[q], end, !node.swapped});
            }
        }
        delta.add(found);
    }
    counts_.resize(std::max(counts_.size(), used));
    sums_.resize(counts_.size());
    std::vector<double> deltas(small.size());
    parallel_for(small.size(), n_threads, [&](std::size_t k) {
        const Node& node = small[k];
        const std::size_t place = places[k];
        Ranked *now = items.data() + node.begin, *next = spare_.data() + node.begin;
        if (node.swapped) std::swap(now, next);
        const Buffers at{now, next, counts_.data() + place, sums_.data() + place, nullptr};
        deltas[k] = subtree(at, node.begin, node.end, y, alpha);
    });
    for (const double found : deltas) delta.add(found);
    return delta.sum();
}

PreferenceTree::Buffers PreferenceTree::buffers(bool swapped) {
    const std::size_t n = items.size();
    spare_.resize(n);
    counts_.resize(n + 1);
    sums_.resize(n + 1);
    chunks_.resize(n / chunk + 2);
    Ranked *first = items.data(), *second = spare_.data();
    if (swapped) std::swap(first, second);
    return {first, second, counts_.data(), sums_.data(), chunks_.data()};
}

double PreferenceTree::subtree(Buffers at, std::size_t begin, std::size_t end, const double* y, double* alpha) const {
    double delta = 0.0;
    if (finish(at.now, begin, end, y, alpha, delta)) return delta;
    const Cuts cuts = quarters(y, begin, end);
    delta = split(at, end - begin, cuts, 1);
    std::swap(at.now, at.next);
    for (std::size_t q = 0; q < 4; ++q) {
        const std::size_t first = cuts.at[q], last = q < 3 ? cuts.at[q + 1] : end;
        if (first < last) delta += subtree(at, first, last, y, alpha);
        at.now += last - first;
        at.next += last - first;
    }
    return delta;
}

// Nodes that need no cut: of one y, of few samples, or with scores so close that everything is violated.
bool PreferenceTree::finish(Ranked* now, std::size_t begin, std::size_t end, const double* y, double* alpha,
                            double& delta) const {
    const std::size_t n = end - begin;
    if (y[begin] > y[end - 1]) {
        if (n <= few) {
            delta += every_pair(now, n, sign_);
        } else if (now[n - 1].from == 0 && sign_ > 0) {
            delta += all_violated(now, begin, n);
        } else {
            return false;
        }
    }
    for (std::size_t i = 0; i < n; ++i) alpha[now[i].place] = now[i].alpha;
    return true;
}

PreferenceTree::Cuts PreferenceTree::quarters(const double* y, std::size_t begin, std::size_t end) {
    const std::size_t half = cut(y, begin, end);
    const std::size_t first = cut(y, begin, half), second = cut(y, half, end);
    return {{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(half),
             static_cast<std::uint32_t>(second)}};
}

// The preferences between quarters; parts the samples into `next`.
double PreferenceTree::split(const Buffers& at, std::size_t n, const Cuts& cuts, int n_threads) const {
    if (n <= chunk) return part<false>(at, 0, n, cuts, tally(at, 0, n, n, cuts));
    const std::size_t n_chunks = (n + chunk - 1) / chunk;
    const auto threads = n_chunks < 16 ? 1 : n_threads;
    const auto last = [n](std::size_t c) { return std::min(n, (c + 1) * chunk); };
    parallel_for(n_chunks, threads, [&](std::size_t c) { at.chunks[c] = tally(at, c * chunk, last(c), n, cuts); });
    accumulate(at.chunks, n_chunks);
    if (n % chunk == 0) at.counts[n] = {}, at.sums[n] = {};
    const Before total = at.chunks[n_chunks];
    std::vector<double> deltas(n_chunks);
    parallel_for(n_chunks, threads, [&](std::size_t c) { deltas[c] = part<true>(at, c * chunk, last(c), cuts, total); });
    Compensated delta;
    for (const double found : deltas) delta.add(found);
    return delta.sum();
}

// Prefixes over the samples [first, last).
PreferenceTree::Before PreferenceTree::tally(const Buffers& at, std::size_t first, std::size_t last, std::size_t n,
                                             const Cuts& cuts) {
    Counts count{};
    Sums sum{};
    for (std::size_t i = first; i < last; ++i) {
        at.counts[i] = count;
        at.sums[i] = sum;
        const Ranked& item = at.now[i];
        for (std::size_t q = 0; q < 4; ++q) {
            const std::uint64_t in = item.place >= cuts.at[q];
            count.in[q] += static_cast<std::uint32_t>(in);
            sum.of[q] += kept_if(in, item.y);
        }
    }
    if (last == n) at.counts[n] = count, at.sums[n] = sum;
    return {count, sum};
}

// Turns the totals of the chunks into those before each of them; the last entry gets that of all.
void PreferenceTree::accumulate(Before* chunks, std::size_t n_chunks) {
    Counts count{};
    Compensated sum[4];
    for (std::size_t c = 0; c <= n_chunks; ++c) {
        const Before found = c < n_chunks ? chunks[c] : Before{};
        for (std::size_t q = 0; q < 4; ++q) {
            chunks[c].count.in[q] = count.in[q];
            chunks[c].y.of[q] = sum[q].sum();
            count.in[q] += found.count.in[q];
            sum[q].add(found.y.of[q]);
        }
    }
}

template <bool Chunked>
double PreferenceTree::part(const Buffers& at, std::size_t first, std::size_t last, const Cuts& cuts,
                            const Before& total) const {
    const auto count = [&](std::uint32_t point, std::size_t q) {
        return at.counts[point].in[q] + (Chunked ? at.chunks[point >> chunk_bits].count.in[q] : 0);
    };
    const auto sum = [&](std::uint32_t point, std::size_t q) {
        return at.sums[point].of[q] + (Chunked ? at.chunks[point >> chunk_bits].y.of[q] : 0.0);
    };
    // Where the next sample of each quarter goes, and what there is in the quarters better than each.
    std::uint32_t next[4], better[4];
    double better_y[4];
    for (std::size_t q = 0; q < 4; ++q) {
        const auto own = [q](const Counts& c) { return c.in[q] - (q < 3 ? c.in[q + 1] : 0); };
        better[q] = total.count.in[0] - total.count.in[q];
        better_y[q] = total.y.of[0] - total.y.of[q];
        next[q] = better[q] + (Chunked ? own(at.chunks[first >> chunk_bits].count) : 0);
    }
    double delta = 0.0;
    for (std::size_t i = first; i < last; ++i) {
        Ranked item = at.now[i];
        const std::size_t q = static_cast<std::size_t>(item.place >= cuts.at[1]) + (item.place >= cuts.at[2]) +
                              (item.place >= cuts.at[3]);
        const std::size_t worse = (q + 1) & 3;
        const std::uint64_t has_worse = q < 3;
        const auto keep = static_cast<std::uint32_t>(0 - has_worse);
        const std::uint32_t worse_from = count(item.from, worse) & keep, worse_until = count(item.until, worse) & keep;
        const std::uint32_t not_better_from = count(item.from, q), not_better_until = count(item.until, q);
        const std::uint32_t n_better = better[q] - (item.from - not_better_from);
        const double worse_y = kept_if(has_worse, sum(item.until, worse));
        // Nothing violated has to give 0, not the rounding of two sums.
        const double better_sum = kept_if(n_better > 0, better_y[q] - (sum(item.from, 0) - sum(item.from, q)));
        const double more_better = better_sum - n_better * item.y;
        const double more_worse = worse_y - worse_until * item.y;
        item.alpha += more_better + sign_ * more_worse;
        delta -= more_worse;
        item.from = not_better_from - worse_from;
        item.until = not_better_until - worse_until;
        at.next[next[q]++] = item;
    }
    return delta;
}

}  // namespace rankcut
