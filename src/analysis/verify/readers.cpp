#include "analysis/verify/readers.h"

#include <algorithm>
#include <map>
#include <unordered_set>
#include <utility>

namespace dyetrace::analysis {

void link_readers(const std::vector<Copy>& copies, std::vector<CopyLink>& links) {
    std::unordered_set<std::size_t> with_parent;
    for (const CopyLink& link : links) {
        with_parent.insert(link.to);
    }
    std::map<std::uint64_t, std::size_t> first_of;  // by object
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < copies.size(); ++i) {
        if (copies[i].in_file && copies[i].object != 0 && !with_parent.contains(i)) {
            order.push_back(i);
        }
    }
    const auto bytes_of = [&](std::size_t copy) {
        const Strip& strip = copies[copy].strip;
        return strip.moved_between(strip.begin(), strip.end());
    };
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(bytes_of(b), copies[a].first_ns) <
               std::pair(bytes_of(a), copies[b].first_ns);
    });
    for (const std::size_t copy : order) {
        const auto [first, is_new] = first_of.emplace(copies[copy].object, copy);
        if (!is_new) {
            links.push_back({first->second, copy, schema::FlowRule::kFile});
        }
    }
}

}  // namespace dyetrace::analysis
