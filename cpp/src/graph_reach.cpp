#include "rankcut/graph/reach.hpp"

#include <algorithm>
#include <utility>

namespace rankcut::graph {

void Reach::solve(const Part& part, const Forest& solved, FlipSets& sets, Answer& answer) {
    part_ = part;
    node_.assign(part.size, Node{});
    bound_.assign(part.size, Bound{});
    amount_.resize(part.n_arcs);
    head_.assign(part.head, part.head + part.n_arcs);
    sister_.assign(part.sister, part.sister + part.n_arcs);
    edge_.assign(part.edge, part.edge + part.n_arcs);
    answer.flip.resize(part.size);
    time_ = 0;
    visits_ = part.n_arcs;
    for (Index v = 0; v < part.size; ++v) prepare(v, solved, answer);
    std::vector<std::pair<Amount, Index>> order;
    order.reserve(part.size);
    for (Index v = 0; v < part.size; ++v) order.push_back({-node_[v].around, v});
    std::sort(order.begin(), order.end());
    for (const auto& [around, v] : order) {
        ask(v, sets, answer);
        ask_regions(sets, answer);
    }
    answer.visits += visits_;
}

// Nodes of different labels have nothing to give each other.
void Reach::prepare(Index v, const Forest& solved, const Answer& answer) {
    const bool label = answer.score[v] > 0;
    Node& x = node_[v];
    x.begin = part_.begin(v);
    x.end = part_.end(v);
    x.fed = answer.score[v] != 0;
    x.stock = std::abs(solved.excess(v));
    x.around = x.stock;
    for (Index a = x.begin; a < x.end; ++a) {
        const bool alike = (answer.score[head_[a]] > 0) == label;
        amount_[a] = alike ? solved.capacity(label ? sister_[a] : a) : 0;
        x.around = std::min(x.around + amount_[a], endless);
    }
}

void Reach::ask(Index v, FlipSets& sets, Answer& answer) {
    Node& x = node_[v];
    if (x.score >= 0) return;
    const Bound bound = bound_[v];
    const Amount own = std::exchange(x.stock, 0), limit = std::min(x.around, bound.most);
    const std::uint64_t start = visits_;
    const Amount got = own + fetch(v, limit - own, limit);
    // All that lay around it has come, or no more can: the set starts at v. Else the bound's set explains it.
    const bool own_set = got == x.around || got < limit;
    answer.flip[v] = own_set ? record(v, got, sets) : bound.set;
    // What has come to a large region is near for the next that ask there: it may stay if none of it was lent,
    // and where it was far to seek it is sought again without lending.
    bool stays = got < limit && got > own && queue_.size() >= large;
    if (stays && lent_ && visits_ - start > far) {
        put_back();
        fetch(v, got - own, endless);
        surround(v);
    }
    stays = stays && !lent_;
    if (stays) open_region(got);
    else put_back();
    x.stock = stays ? got : own;
    pushed_.clear();
    drawn_.clear();
    x.score = got;
    answer.score[v] = answer.score[v] > 0 ? got : -got;
}

// The nodes of a closed region ask before all others: nothing outside could help them. Regions may open in it.
void Reach::ask_regions(FlipSets& sets, Answer& answer) {
    while (!regions_.empty()) {
        Region& last = regions_.back();
        if (last.asked < last.members.size()) {
            ask(last.members[last.asked++], sets, answer);
        } else {
            merge(last, sets);
            regions_.pop_back();
        }
    }
}

// Of the nodes in queue_, into which nothing more can flow. Those with less around them have a smaller score.
void Reach::open_region(Amount score) {
    Region region{score, {}};
    for (const Index v : queue_)
        if (node_[v].around >= score) region.members.push_back(v);
    if (region.members.size() < large) return;
    std::sort(region.members.begin(), region.members.end(), [this](Index v, Index w) {
        return std::pair(node_[w].around, v) < std::pair(node_[v].around, w);
    });
    regions_.push_back(std::move(region));
}

// Those of the region's score become one node, unless most of their arcs would remain.
void Reach::merge(const Region& region, FlipSets& sets) {
    std::vector<Index> same;
    ++time_;
    for (const Index v : region.members) {
        // A merged node's members have no arcs any more.
        if (node_[v].score != region.score || node_[v].begin == node_[v].end) continue;
        node_[v].seen = time_;
        same.push_back(v);
    }
    if (same.size() < large) return;
    std::size_t inside = 0, all = 0;
    for (const Index v : same) {
        for (Index a = node_[v].begin; a < node_[v].end; ++a) inside += node_[head_[a]].seen == time_;
        all += static_cast<std::size_t>(node_[v].end - node_[v].begin);
    }
    visits_ += all;
    if (loose * inside >= all - inside) join(same, sets);
}

// The first of the nodes, all seen just now, takes over what the others have, and their arcs to elsewhere.
void Reach::join(const std::vector<Index>& nodes, FlipSets& sets) {
    const Index v = nodes.front(), begin = static_cast<Index>(head_.size());
    Amount stock = 0;
    for (const Index w : nodes) {
        Node& x = node_[w];
        if (x.merged == FlipSets::none) sets.add_node(part_.node[w]);
        else sets.add_child(x.merged);
        for (Index a = x.begin; a < x.end; ++a) {
            const Index b = sister_[a];
            if (node_[head_[a]].seen == time_) {
                if (a < b) sets.add_edge(edge_[a]);
                continue;
            }
            head_[b] = v;
            sister_[b] = static_cast<Index>(head_.size());
            head_.push_back(head_[a]);
            sister_.push_back(b);
            edge_.push_back(edge_[a]);
            amount_.push_back(amount_[a]);
        }
        visits_ += static_cast<std::uint64_t>(x.end - x.begin);
        x.begin = x.end = 0;
        stock += std::exchange(x.stock, 0);
    }
    node_[v].stock = stock;
    node_[v].begin = begin;
    node_[v].end = static_cast<Index>(head_.size());
    node_[v].merged = sets.close();
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
    for (Index a = node_[v].begin; a < node_[v].end && got < wanted; ++a) {
        ++visits_;
        if (amount_[a] == 0 || !has_stock(node_[head_[a]])) continue;
        const Amount flow = draw(head_[a], std::min(amount_[a], wanted - got));
        push(a, flow);
        got += flow;
    }
    return got;
}

// Steps from the root, up to the first level with stock: all of that level, or as much as the root has arcs
// where stock is plenty. False if none can be reached.
bool Reach::layer(Index root) {
    const auto arcs = static_cast<std::size_t>(node_[root].end - node_[root].begin);
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
        for (Index a = node_[v].begin; a < node_[v].end; ++a) {
            ++visits_;
            const Index head = head_[a];
            Node& w = node_[head];
            if ((amount_[a] == 0) | (w.seen == time_) | !w.fed) continue;
            w.seen = time_;
            w.level = level;
            w.next = sister_[a];
            w.left = node_[head].end - node_[head].begin;
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
                v = full == path_.end() ? from : head_[*full];
                path_.erase(full == path_.end() ? path_.begin() : full, path_.end());
                continue;
            }
            Node& x = node_[v];
            for (; x.left > 0; advance(v)) {
                const Node& w = node_[head_[x.next]];
                if ((w.level == x.level - 1) & (w.seen == time_) && amount_[sister_[x.next]] > 0) break;
            }
            if (x.left > 0) {
                path_.push_back(sister_[x.next]);
                v = head_[x.next];
            } else {
                x.level = -1;  // a dead end
                if (path_.empty()) break;
                v = head_[path_.back()];
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
    if (++x.next == node_[v].end) x.next = node_[v].begin;
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
    amount_[sister_[arc]] += flow;
    pushed_.push_back({arc, flow});
}

void Reach::put_back() {
    for (const Moved& m : pushed_) {
        amount_[m.where] += m.flow;
        amount_[sister_[m.where]] -= m.flow;
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
        if (node_[w].merged == FlipSets::none) sets.add_node(part_.node[w]);
        else sets.add_child(node_[w].merged);
        if (alone) break;
        if (score < bound_[w].most) bound_[w] = {score, sets.size()};
        for (Index a = node_[w].begin; a < node_[w].end; ++a) {
            ++visits_;
            if (head_[a] > w && node_[head_[a]].seen == time_) sets.add_edge(edge_[a]);
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
        for (Index a = node_[queue_[k]].begin; a < node_[queue_[k]].end; ++a) {
            ++visits_;
            Node& w = node_[head_[a]];
            if (amount_[a] == 0 || w.seen == time_) continue;
            w.seen = time_;
            queue_.push_back(head_[a]);
        }
    }
}

}  // namespace rankcut::graph
