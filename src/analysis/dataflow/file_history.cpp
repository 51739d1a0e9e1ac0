#include "analysis/dataflow/file_history.h"

#include <algorithm>
#include <span>
#include <utility>

namespace dyetrace::analysis {
namespace {

using schema::FlowRule;

// Two writes that overlapped in time: which of them the file kept is not known.
struct Contested {
    std::uint64_t begin, end;
    std::vector<Act> others;
};

std::span<const Act> owners_besides(const Extent& extent) {
    return extent.others ? std::span<const Act>(*extent.others) : std::span<const Act>();
}

std::vector<Act> owners_of(const Extent& extent) {
    std::vector<Act> owners(owners_besides(extent).begin(), owners_besides(extent).end());
    owners.push_back(extent.act);
    return owners;
}

}  // namespace

void FileHistory::write_starts(std::uint64_t event, std::uint64_t begin, std::uint64_t end) {
    writing_.push_back({event, begin, end});
}

bool FileHistory::is_being_written(std::uint64_t event,
                                   std::uint64_t begin,
                                   std::uint64_t end) const {
    return std::any_of(writing_.begin(), writing_.end(), [&](const Writing& w) {
        return w.event != event && w.begin < end && w.end > begin;
    });
}

// Those of its owners that may have written after the new one. The others a read that has begun already may still have met.
std::vector<Act> FileHistory::rivals_of(const Act& writer,
                                        const Extent& extent,
                                        std::uint64_t begin,
                                        std::uint64_t end) {
    std::vector<Act> rivals;
    for (const Act& owner : owners_of(extent)) {
        if (owner.end_ns > writer.start_ns) {
            rivals.push_back(owner);
        } else {
            keep_replaced({begin, end, writer.end_ns, owner});
        }
    }
    if (rivals.size() > kOthersMax) {
        rivals.erase(std::ranges::min_element(rivals, {}, &Act::end_ns));
        ++pool_.crowded_out;
    }
    return rivals;
}

void FileHistory::keep_all(const Extent& extent,
                           std::uint64_t begin,
                           std::uint64_t end,
                           std::uint64_t replaced_ns) {
    keep_replaced({begin, end, replaced_ns, extent.act});
    for (const Act& other : owners_besides(extent)) {
        keep_replaced({begin, end, replaced_ns, other});
    }
}

void FileHistory::keep_replaced(const Replaced& replaced) {
    if (replaced_.size() >= replaced_max_) {
        drop_replaced();
    }
    replaced_.push_back(replaced);
}

// Drops what no read in flight can have met. When half of what is left may go it looks again, so each is moved twice at most.
void FileHistory::drop_replaced() {
    std::uint64_t needed_ns = UINT64_MAX;
    for (const Reading& reading : reading_) {
        needed_ns = std::min(needed_ns, reading.start_ns);
    }
    const auto needed = std::ranges::upper_bound(replaced_, needed_ns, {}, &Replaced::replaced_ns);
    auto kept = std::min(needed, replaced_.end() - kReplacedKept);
    if (replaced_.end() - kept > static_cast<std::ptrdiff_t>(kReplacedMax / 2)) {
        pool_.forgotten += static_cast<std::size_t>(replaced_.end() - kept) - kReplacedMax / 2;
        kept = replaced_.end() - kReplacedMax / 2;
    }
    replaced_.erase(replaced_.begin(), kept);
    replaced_max_ = std::max(2 * kReplacedKept, 2 * replaced_.size());
}

void FileHistory::cut(std::uint64_t begin, std::uint64_t end, std::uint64_t cut_ns) {
    extents_.each(begin, end, [&](std::uint64_t first, std::uint64_t last, const Extent& extent) {
        keep_all(extent, first, last, cut_ns);
    });
    extents_.cut(begin, end);
}

void FileHistory::write(const Act& act, std::uint64_t bytes) {
    const std::uint64_t end = act.offset + bytes;
    std::erase_if(writing_, [&](const Writing& w) { return w.event == act.event; });
    // a page that is written again: what a database does all day
    if (Extent* const same = extents_.find(act.offset, end);
        same != nullptr && same->act.end_ns <= act.start_ns) {
        keep_all(*same, act.offset, end, act.end_ns);
        same->act = act;
        same->others = nullptr;
        return;
    }
    std::vector<Contested> contested;
    extents_.each(
        act.offset, end, [&](std::uint64_t first, std::uint64_t last, const Extent& extent) {
            if (extent.act.end_ns > act.start_ns) {
                contested.push_back({first, last, rivals_of(act, extent, first, last)});
            } else {
                keep_all(extent, first, last, act.end_ns);
            }
        });
    extents_.put(act.offset, end, act);
    for (Contested& part : contested) {
        extents_.put(part.begin, part.end, act, std::move(part.others));
    }
}

void FileHistory::read(const Act& act, std::uint64_t bytes, std::vector<Flow>& flows) {
    const std::uint64_t end = act.offset + bytes;
    std::erase_if(reading_, [&](const Reading& r) { return r.event == act.event; });
    extents_.each(
        act.offset, end, [&](std::uint64_t first, std::uint64_t last, const Extent& extent) {
            const bool certain = extent.others == nullptr && extent.act.end_ns <= act.start_ns &&
                                 pool_.cut_ns <= extent.act.start_ns &&
                                 !is_being_written(act.event, first, last);
            flows.push_back(flow_between(extent.act, act, first, last, FlowRule::kFile, certain));
            for (const Act& other : owners_besides(extent)) {
                flows.push_back(flow_between(other, act, first, last, FlowRule::kFile, false));
            }
        });
    for (const Writing& writing : writing_) {
        const std::uint64_t first = std::max(act.offset, writing.begin);
        const std::uint64_t last = std::min(end, writing.end);
        if (first < last && writing.event != act.event) {
            const Act writer{.event = writing.event, .object = act.object, .offset = writing.begin};
            flows.push_back(flow_between(writer, act, first, last, FlowRule::kFile, false));
        }
    }
    for (auto replaced = replaced_.rbegin();
         replaced != replaced_.rend() && replaced->replaced_ns > act.start_ns;
         ++replaced) {
        const std::uint64_t first = std::max(act.offset, replaced->begin);
        const std::uint64_t last = std::min(end, replaced->end);
        if (first < last) {
            flows.push_back(flow_between(replaced->act, act, first, last, FlowRule::kFile, false));
        }
    }
}

}  // namespace dyetrace::analysis
