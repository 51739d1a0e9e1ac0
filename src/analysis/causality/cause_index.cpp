#include "analysis/causality/cause_index.h"

#include <algorithm>
#include <queue>
#include <tuple>
#include <utility>

#include "base/check.h"

namespace dyetrace::analysis {

CauseIndex::CauseIndex(std::span<const CauseEdge> edges) {
    CHECK(edges.size() < UINT32_MAX);  // 300 GB of them
    const auto number = [this](std::uint64_t thread) {
        return numbers_.try_emplace(thread, static_cast<std::uint32_t>(numbers_.size()))
            .first->second;
    };
    std::vector<std::uint32_t> to;
    to.reserve(edges.size());
    for (const CauseEdge& edge : edges) {
        number(edge.from_thread);
        to.push_back(number(edge.to_thread));
    }
    threads_.resize(numbers_.size());
    for (const std::uint32_t thread : to) {
        ++threads_[thread].end;
    }
    std::size_t begin = 0;
    for (Thread& thread : threads_) {
        thread.begin = begin;
        begin += std::exchange(thread.end, begin);
    }
    arrivals_.resize(edges.size());
    for (std::size_t i = 0; i < edges.size(); ++i) {
        const CauseEdge& edge = edges[i];
        arrivals_[threads_[to[i]].end++] = {
            edge.to_at, edge.to_rank, edge.from_at, edge.from_rank, number_of(edge.from_thread)};
    }
    for (const Thread& thread : threads_) {
        std::sort(arrivals_.begin() + static_cast<std::ptrdiff_t>(thread.begin),
                  arrivals_.begin() + static_cast<std::ptrdiff_t>(thread.end),
                  [](const Arrival& a, const Arrival& b) {
                      return std::tie(a.to_at, a.to_rank) < std::tie(b.to_at, b.to_rank);
                  });
    }
    sort_pairs();
}

// Leaves out an arrival that left no later than one that came before it from the same thread: it
// tells nothing new.
void CauseIndex::sort_pairs() {
    std::vector<std::uint32_t> order;
    for (Thread& thread : threads_) {
        order.clear();
        for (std::size_t i = thread.begin; i < thread.end; ++i) {
            order.push_back(static_cast<std::uint32_t>(i));
        }
        std::stable_sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
            return arrivals_[a].from < arrivals_[b].from;
        });
        thread.pairs_begin = pairs_.size();
        for (const std::uint32_t at : order) {
            const Arrival& arrival = arrivals_[at];
            if (pairs_.size() == thread.pairs_begin || pairs_.back().from != arrival.from) {
                pairs_.push_back({arrival.from, from_pair_.size(), from_pair_.size()});
            } else if (arrivals_[from_pair_.back()].from_at >= arrival.from_at) {
                continue;
            }
            from_pair_.push_back(at);
            pairs_.back().end = from_pair_.size();
        }
        thread.pairs_end = pairs_.size();
    }
}

std::uint32_t CauseIndex::number_of(std::uint64_t thread) const {
    const auto found = numbers_.find(thread);
    return found == numbers_.end() ? kNoThread : found->second;
}

const std::uint64_t* CauseIndex::last_rank(std::uint32_t thread, std::uint64_t at) const {
    const Thread& into = threads_[thread];
    const auto first = arrivals_.begin() + static_cast<std::ptrdiff_t>(into.begin);
    const auto end = std::upper_bound(
        first,
        arrivals_.begin() + static_cast<std::ptrdiff_t>(into.end),
        at,
        [](std::uint64_t moment, const Arrival& arrival) { return moment < arrival.to_at; });
    return end == first ? nullptr : &std::prev(end)->to_rank;
}

// The last arrival from each thread before `limit`, and perhaps earlier ones; only some whose rank is below the floor are missing.
template <typename Visit>
void CauseIndex::each_before(std::uint32_t number,
                             std::uint64_t limit,
                             std::uint64_t floor,
                             Visit&& visit) const {
    const Thread& thread = threads_[number];
    const auto data = arrivals_.data();
    const Arrival* const end = std::lower_bound(
        data + thread.begin,
        data + thread.end,
        limit,
        [](const Arrival& each, std::uint64_t moment) { return each.to_at < moment; });
    const Arrival* const begin = std::lower_bound(
        data + thread.begin, end, floor, [](const Arrival& each, std::uint64_t rank) {
            return each.to_rank < rank;
        });
    if (static_cast<std::size_t>(end - begin) <= thread.pairs_end - thread.pairs_begin) {
        for (const Arrival* each = end; each != begin;) {
            visit(*--each);
        }
        return;
    }
    for (std::size_t i = thread.pairs_begin; i < thread.pairs_end; ++i) {
        const auto first = from_pair_.begin() + static_cast<std::ptrdiff_t>(pairs_[i].begin);
        const auto after =
            std::lower_bound(first,
                             from_pair_.begin() + static_cast<std::ptrdiff_t>(pairs_[i].end),
                             limit,
                             [this](std::uint32_t position, std::uint64_t moment) {
                                 return arrivals_[position].to_at < moment;
                             });
        if (after != first) {
            visit(arrivals_[*std::prev(after)]);
        }
    }
}

// One walk; the memory for it is kept from one question to the next.
class CauseIndex::Walk {
  public:
    explicit Walk(const CauseIndex& index) : index_(index) {
        thread_local Past kept;
        past_ = std::move(kept);
        past_.resize(index.threads_.size());
        kept_ = &kept;
    }
    Walk(const Walk&) = delete;
    Walk& operator=(const Walk&) = delete;
    ~Walk() {
        for (const std::uint32_t thread : met_) {
            past_[thread] = 0;
        }
        *kept_ = std::move(past_);
    }

    // Stops when it meets `target` from `target_at` on.
    bool run(std::uint32_t thread,
             std::uint64_t at,
             std::uint32_t target,
             std::uint64_t target_at,
             std::uint64_t floor) {
        bool found = false;
        const auto visit = [&](const Arrival& arrival) {
            if (arrival.from_rank < floor || past_[arrival.from] > arrival.from_at) {
                return;
            }
            if (arrival.from == target) {
                found = found || arrival.from_at >= target_at;
                return;  // what lies before an earlier moment of the target is not it
            }
            if (past_[arrival.from] == 0) {
                met_.push_back(arrival.from);
            }
            past_[arrival.from] = arrival.from_at + 1;
            queue_.push({arrival.from_rank, arrival.from, arrival.from_at});
        };
        index_.each_before(thread, at == UINT64_MAX ? at : at + 1, floor, visit);
        while (!found && !queue_.empty()) {
            const Met met = queue_.top();
            queue_.pop();
            if (past_[met.thread] == met.at + 1) {  // else it was met again, later
                index_.each_before(met.thread, met.at, floor, visit);
            }
        }
        return found;
    }

    const Past& past() const { return past_; }

  private:
    struct Met {
        std::uint64_t rank;
        std::uint32_t thread;
        std::uint64_t at;
        bool operator<(const Met& other) const { return rank < other.rank; }
    };
    const CauseIndex& index_;
    Past past_;
    Past* kept_;
    std::vector<std::uint32_t> met_;
    std::priority_queue<Met> queue_;
};

bool CauseIndex::reaches(std::uint32_t thread,
                         std::uint64_t at,
                         std::uint32_t target,
                         std::uint64_t target_at,
                         std::uint64_t floor) const {
    return Walk(*this).run(thread, at, target, target_at, floor);
}

Past CauseIndex::past_of(std::uint32_t thread, std::uint64_t at) const {
    Walk walk(*this);
    walk.run(thread, at, kNoThread, 0, 0);
    return walk.past();
}

}  // namespace dyetrace::analysis
