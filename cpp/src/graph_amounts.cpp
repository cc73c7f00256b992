#include "rankcut/graph/amounts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace rankcut::graph {

namespace {

// The power of two that makes `bound` at most 2^60 units.
double grid(double bound) {
    int exponent = 0;
    std::frexp(bound, &exponent);  // bound < 2^exponent
    return std::ldexp(1.0, std::max(exponent - 60, -1074));
}

}  // namespace

// Two steps leave every optimal labelling as it is and keep the grid fine when sizes differ widely:
// an edge that costs more than twice all that the nodes could bring is never cut, so it need cost no more;
// a node whose own score outweighs all its edges decides alone, so its score need not be larger.
void Amounts::round(const Part& part, const double* all_unary, const double* all_costs) {
    double total = 0.0;
    for (Index v = 0; v < part.size; ++v) total += std::abs(all_unary[part.node[v]]);
    if (!std::isfinite(total)) throw std::invalid_argument("unary scores and their sum must be finite");
    const double dear = total > 0.0 ? 2.0 * total : std::numeric_limits<double>::infinity();
    double largest = 0.0, twice_all = 0.0, bound = 0.0;
    for (Index v = 0; v < part.size; ++v) {
        double around = 0.0;
        for (Index a = part.begin(v); a < part.end(v); ++a) {
            const double given = all_costs[part.edge[a]];
            if (!(given >= 0.0 && std::isfinite(given)))
                throw std::invalid_argument("costs must be finite and not negative");
            const double c = std::min(given, dear);
            around += c;
            largest = std::max(largest, c);
        }
        bound += std::min(std::abs(all_unary[part.node[v]]), around);
        twice_all += around;
    }
    if (!std::isfinite(twice_all)) throw std::invalid_argument("the sum of all costs must be finite");
    unit = grid(bound + (part.size <= tiny ? twice_all : 2.0 * largest));
    constexpr Amount plenty = Amount{1} << 61;  // more than any score
    unary.resize(part.size);
    cost.resize(part.n_arcs);
    for (Index v = 0; v < part.size; ++v) {
        Amount around = 0;
        for (Index a = part.begin(v); a < part.end(v); ++a) {
            cost[a] = std::llrint(std::min(all_costs[part.edge[a]], dear) / unit);
            around = std::min(around + cost[a], plenty);
        }
        // One unit more than its edges: the choice is no tie.
        const double u = std::clamp(all_unary[part.node[v]] / unit, -0x1p62, 0x1p62);
        unary[v] = std::clamp(static_cast<Amount>(std::llrint(u)), -around - 1, around + 1);
    }
}

}  // namespace rankcut::graph
