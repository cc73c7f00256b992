#include "rankcut/graph/reach.hpp"

#include <algorithm>
#include <utility>

namespace rankcut::graph {

void Reach::solve(const Part& part, const Forest& solved, FlipSets& sets, Answer& answer) {
    part_ = part;
    node_.assign(part.size, Node{});
    bound_.assign(part.size, Bound{});
    amount_.resize(part.n_arcs);
    answer.flip.resize(part.size);
    time_ = 0;
    visits_ = part.n_arcs;
    std::vector<std::pair<Amount, Index>> order;
    order.reserve(part.size);
    for (Index v = 0; v < part.size; ++v) order.push_back({-prepare(v, solved, answer), v});
    std::sort(order.begin(), order.end());
    for (const auto& [around, v] : order) ask(v, -around, sets, answer);
    answer.visits += visits_;
}

// Nodes of different labels have nothing to give each other. Returns what is at v and around it.
Amount Reach::prepare(Index v, const Forest& solved, const Answer& answer) {
    const bool label = answer.score[v] > 0;
    node_[v].fed = answer.score[v] != 0;
    node_[v].stock = std::abs(solved.excess(v));
    Amount around = node_[v].stock;
    for (Index a = part_.begin(v); a < part_.end(v); ++a) {
        const bool alike = (answer.score[part_.head[a]] > 0) == label;
        amount_[a] = alike ? solved.capacity(label ? part_.sister[a] : a) : 0;
        around = std::min(around + amount_[a], endless);
    }
    return around;
}

void Reach::ask(Index v, Amount around, FlipSets& sets, Answer& answer) {
    Node& x = node_[v];
    const Bound bound = bound_[v];
    const Amount own = std::exchange(x.stock, 0), limit = std::min(around, bound.most);
    const std::uint64_t start = visits_;
    const Amount got = own + fetch(v, limit - own, limit);
    // All that lay around it has come, or no more can: the set starts at v. Else the bound's set explains it.
    const bool own_set = got == around || got < limit;
    answer.flip[v] = own_set ? record(v, got, sets) : bound.set;
    // What has come to a large region is near for the next that ask there: it may stay if none of it was lent,
    // and where it was far to seek it is sought again without lending.
    const bool stays = got < limit && got > own && queue_.size() >= large;
    if (stays && lent_ && visits_ - start > far) {
        put_back();
        fetch(v, got - own, endless);
    }
    x.stock = stays && !lent_ ? got : own;
    if (!stays || lent_) put_back();
    pushed_.clear();
    drawn_.clear();
    x.score = got;
    answer.score[v] = answer.score[v] > 0 ? got : -got;
}

// So much of what is wanted as can come to v, with scores of at least `limit` as endless stock.
Amount Reach::fetch(Index v, Amount wanted, Amount limit) {
    limit_ = limit;
    lent_ = false;
    if (!node_[v].fed) return 0;
    Amount got = beside(v, wanted);
    while (got < wanted && layer(v)) got += pull(v, wanted - got);
    return got;
}

Amount Reach::beside(Index v, Amount wanted) {
    Amount got = 0;
    for (Index a = part_.begin(v); a < part_.end(v) && got < wanted; ++a) {
        ++visits_;
        if (amount_[a] == 0 || !has_stock(node_[part_.head[a]])) continue;
        const Amount flow = draw(part_.head[a], std::min(amount_[a], wanted - got));
        push(a, flow);
        got += flow;
    }
    return got;
}

// Steps from the root, up to the first level with stock: all of that level, or as much as the root has arcs
// where stock is plenty. False if none can be reached.
bool Reach::layer(Index root) {
    const auto arcs = static_cast<std::size_t>(part_.end(root) - part_.begin(root));
    auto enough = [&] { return found_.size() >= arcs && 8 * found_.size() >= queue_.size(); };
    ++time_;
    found_.clear();
    queue_.assign(1, root);
    node_[root].seen = time_;
    node_[root].level = 0;
    Index last = part_.size;
    for (std::size_t k = 0; k < queue_.size() && !enough(); ++k) {
        const Index v = queue_[k], level = node_[v].level + 1;
        if (level > last) break;
        for (Index a = part_.begin(v); a < part_.end(v); ++a) {
            ++visits_;
            const Index head = part_.head[a];
            Node& w = node_[head];
            if ((amount_[a] == 0) | (w.seen == time_) | !w.fed) continue;
            w.seen = time_;
            w.level = level;
            w.next = part_.sister[a];
            w.left = part_.end(head) - part_.begin(head);
            queue_.push_back(head);
            if (has_stock(w)) found_.push_back(head), last = level;
        }
    }
    return !found_.empty();
}

// All that the levels let flow to the root.
Amount Reach::pull(Index root, Amount wanted) {
    Amount got = 0;
    for (const Index from : found_) {
        path_.clear();
        Index v = from;
        while (got < wanted && has_stock(node_[from])) {
            if (v == root) {
                got += deliver(from, wanted - got);
                // On from the giver of the first arc that is full now.
                const auto full = std::find_if(path_.begin(), path_.end(), [&](Index a) { return amount_[a] == 0; });
                v = full == path_.end() ? from : part_.head[*full];
                path_.erase(full == path_.end() ? path_.begin() : full, path_.end());
                continue;
            }
            Node& x = node_[v];
            for (; x.left > 0; advance(v)) {
                const Node& w = node_[part_.head[x.next]];
                if ((w.level == x.level - 1) & (w.seen == time_) && amount_[part_.sister[x.next]] > 0) break;
            }
            if (x.left > 0) {
                path_.push_back(part_.sister[x.next]);
                v = part_.head[x.next];
            } else {
                x.level = -1;  // a dead end
                if (path_.empty()) break;
                v = part_.head[path_.back()];
                path_.pop_back();
                advance(v);
            }
        }
    }
    return got;
}

// Down the whole path.
Amount Reach::deliver(Index from, Amount wanted) {
    for (const Index a : path_) wanted = std::min(wanted, amount_[a]);
    const Amount flow = draw(from, wanted);
    for (const Index a : path_) push(a, flow);
    return flow;
}

void Reach::advance(Index v) {
    Node& x = node_[v];
    ++visits_;
    --x.left;
    if (++x.next == part_.end(v)) x.next = part_.begin(v);
}

Amount Reach::draw(Index v, Amount wanted) {
    Node& x = node_[v];
    if (x.score >= limit_) {
        lent_ = true;
        return wanted;
    }
    const Amount flow = std::min(wanted, x.stock);
    x.stock -= flow;
    drawn_.push_back({v, flow});
    return flow;
}

void Reach::push(Index arc, Amount flow) {
    ++visits_;
    amount_[arc] -= flow;
    amount_[part_.sister[arc]] += flow;
    pushed_.push_back({arc, flow});
}

void Reach::put_back() {
    for (const Moved& m : pushed_) {
        amount_[m.where] += m.flow;
        amount_[part_.sister[m.where]] -= m.flow;
    }
    for (const Moved& m : drawn_) node_[m.where].stock += m.flow;
    visits_ += pushed_.size();
    pushed_.clear();
    drawn_.clear();
}

// The smallest set with v that nothing more can flow into. It bounds the scores of all its nodes.
Index Reach::record(Index v, Amount score, FlipSets& sets) {
    surround(v);
    const bool alone = queue_.size() == 1;
    for (const Index w : queue_) {
        sets.add_node(part_.node[w]);
        if (alone) break;
        if (score < bound_[w].most) bound_[w] = {score, sets.size()};
        for (Index a = part_.begin(w); a < part_.end(w); ++a) {
            ++visits_;
            if (part_.head[a] > w && node_[part_.head[a]].seen == time_) sets.add_edge(part_.edge[a]);
        }
    }
    return sets.close();
}

// Into queue_: the nodes from which something could flow to v.
void Reach::surround(Index v) {
    ++time_;
    queue_.assign(1, v);
    node_[v].seen = time_;
    for (std::size_t k = 0; k < queue_.size(); ++k) {
        for (Index a = part_.begin(queue_[k]); a < part_.end(queue_[k]); ++a) {
            ++visits_;
            Node& w = node_[part_.head[a]];
            if (amount_[a] == 0 || w.seen == time_) continue;
            w.seen = time_;
            queue_.push_back(part_.head[a]);
        }
    }
}

}  // namespace rankcut::graph
