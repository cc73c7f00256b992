#include "rankcut/graph/cut_graph.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "rankcut/graph/enumeration.hpp"
#include "rankcut/graph/reach.hpp"
#include "rankcut/graph/tree.hpp"
#include "rankcut/threads.hpp"

namespace rankcut {

using namespace graph;

namespace {

// The solvers of one block, one component after the other.
class Solver {
public:
    Answer answer;

    void solve(const Part& part, const double* unary, const double* costs, FlipSets* sets) {
        amounts_.round(part, unary, costs);
        if (part.is_tree()) {
            tree_.solve(part, amounts_, answer);
            if (sets) tree_.flips(part, amounts_, *sets, answer);
        } else if (sets && part.size <= tiny) {
            enumeration_.solve(part, amounts_, answer);
            enumeration_.flips(part, *sets, answer);
        } else {
            forest_.solve(part, amounts_, answer);
            if (sets) reach_.solve(part, forest_, *sets, answer);
        }
    }

    // Does no edge of v cost anything?
    bool alone(const Part& part, Index v) const {
        const auto begin = amounts_.cost.begin();
        return std::all_of(begin + part.begin(v), begin + part.end(v), [](Amount c) { return c == 0; });
    }

    // With what u_v has beyond all that its edges can outweigh, which round() left out.
    double score(Index v, double u) const {
        const double whole = u / amounts_.unit;
        const Amount added = answer.score[v] - amounts_.unary[v];
        if (std::abs(whole) >= 0x1p62) return u + amounts_.unit * static_cast<double>(added);
        return amounts_.unit * static_cast<double>(std::llrint(whole) + added);
    }

private:
    Amounts amounts_;
    TreeMessages tree_;
    Enumeration enumeration_;
    Forest forest_;
    Reach reach_;
};

}  // namespace

CutGraph::CutGraph(std::size_t n_nodes, std::span<const std::int64_t> pairs)
    : layout_(std::make_shared<const Layout>(n_nodes, pairs)),
      labellings_{layout_, std::vector<std::uint8_t>(n_nodes), std::vector<FlipSets>(layout_->n_blocks()),
                  std::vector<Index>(n_nodes, FlipSets::none)},
      score_(n_nodes),
      value_(layout_->n_parts()) {}

double CutGraph::solve(const double* unary, const double* costs, std::uint8_t* labels, bool marginals,
                       int n_threads) {
    std::vector<std::uint64_t> visits(layout_->n_blocks());
    parallel_for(layout_->n_blocks(), n_threads, [&](std::size_t b) {
        Solver solver;
        FlipSets* sets = marginals ? &labellings_.sets[b] : nullptr;
        if (sets) sets->clear();
        for (std::size_t c = layout_->block_begin(b); c < layout_->block_end(b); ++c) {
            const Part part = layout_->part(c);
            solver.solve(part, unary, costs, sets);
            for (Index v = 0; v < part.size; ++v) {
                const Index i = part.node[v];
                const bool alone = solver.alone(part, v);
                labels[i] = alone ? unary[i] > 0.0 : solver.answer.score[v] > 0;
                if (!marginals) continue;
                score_[i] = alone ? unary[i] : solver.score(v, unary[i]);
                labellings_.flip[i] = solver.answer.flip[v];
            }
            value_[c] = energy(part, unary, costs, labels);
        }
        visits[b] = solver.answer.visits;
    });
    visits_ = std::accumulate(visits.begin(), visits.end(), std::uint64_t{0});
    return std::accumulate(value_.begin(), value_.end(), 0.0);
}

double CutGraph::label(const double* unary, const double* costs, std::uint8_t* labels, int n_threads) {
    return solve(unary, costs, labels, false, n_threads);
}

void CutGraph::max_marginals(const double* unary, const double* costs, double* plus, double* minus,
                             std::uint8_t* labels, bool by_component, int n_threads) {
    solved_ = false;
    const double total = solve(unary, costs, labellings_.label.data(), true, n_threads);
    solved_ = true;
    std::copy(labellings_.label.begin(), labellings_.label.end(), labels);
    for (std::size_t c = 0; c < layout_->n_parts(); ++c) {
        const Part part = layout_->part(c);
        const double best = by_component ? value_[c] : total;
        for (Index v = 0; v < part.size; ++v) {
            const Index i = part.node[v];
            plus[i] = best + std::min(score_[i], 0.0);
            minus[i] = best - std::max(score_[i], 0.0);
        }
    }
}

const Labellings& CutGraph::labellings() const {
    if (!solved_) throw std::logic_error("max_marginals comes first");
    return labellings_;
}

const std::vector<double>& CutGraph::scores() const {
    if (!solved_) throw std::logic_error("max_marginals comes first");
    return score_;
}

}  // namespace rankcut
