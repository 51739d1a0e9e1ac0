#include "store/new_events.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "schema/record_info.h"
#include "store/raw_views.h"

namespace dyetrace::store {
namespace {

// "web1.trace/000007" of web1.trace/segment-000007.seg and of web1.trace/sealed-000007.
std::string key_of(std::string_view path) {
    const std::size_t slash = path.rfind('/') + 1;
    std::string_view number = path.substr(path.find('-', slash) + 1);
    number = number.substr(0, number.find('.'));
    return fmt::format("{}{}", path.substr(0, slash), number);
}

bool has_events(const trace::BlockHeader& block) {
    return block.stream == static_cast<std::uint8_t>(schema::Stream::kEvents);
}

EventsSeen::Segment seen_of(const trace::SegmentReader& segment) {
    EventsSeen::Segment seen;
    seen.is_complete = segment.has_end_block();
    seen.is_in_order = segment.lost().empty();
    for (const trace::BlockHeader& block : segment.blocks()) {
        seen.blocks.push_back(block.header_checksum);
        if (!has_events(block)) {
            continue;
        }
        seen.events += block.record_count;
        const auto [last, is_first] = seen.last_sequences.emplace(block.cpu, block.last_sequence);
        seen.is_in_order &= is_first || block.first_sequence > last->second;
        seen.is_in_order &= block.first_sequence <= block.last_sequence &&
                            block.host_index == segment.blocks().front().host_index;
        last->second = block.last_sequence;
    }
    return seen;
}

// Adds what is new; false: what was seen is not there.
bool add_sealed(const SealedFolder& folder, const EventsSeen::Segment* seen, NewEvents& events) {
    if (seen == nullptr) {
        events.sealed.push_back(folder);
        return true;
    }
    if (seen->is_sealed) {
        return folder.records == seen->records;
    }
    if (!folder.damages.empty() || folder.events < seen->events) {
        return false;
    }
    if (seen->is_complete || folder.events == seen->events) {
        return folder.events == seen->events;
    }
    events.rests.push_back({folder, seen->last_sequences});
    return seen->is_in_order;
}

bool add_segment(const trace::SegmentReader& segment,
                 const EventsSeen::Segment* seen,
                 NewEvents& events) {
    const std::size_t begin = seen == nullptr ? 0 : seen->blocks.size();
    if (begin > segment.blocks().size() || (seen != nullptr && seen->is_sealed)) {
        return false;
    }
    for (std::size_t i = 0; i < segment.blocks().size(); ++i) {
        const trace::BlockHeader& block = segment.blocks()[i];
        if (i >= begin) {
            events.blocks.push_back({&segment, block});
        } else if (block.header_checksum != seen->blocks[i]) {
            return false;
        }
    }
    return true;
}

// "CASE cpu WHEN 0 THEN sequence > 77 … ELSE true END"
std::string is_after(const std::map<std::uint16_t, std::uint64_t>& last_sequences) {
    std::string sql = "CASE cpu";
    for (const auto& [cpu, last] : last_sequences) {
        sql += fmt::format(" WHEN {} THEN sequence > {}", cpu, last);
    }
    return last_sequences.empty() ? "" : sql + " ELSE true END";
}

}  // namespace

EventsSeen events_seen(const Snapshot& snapshot) {
    EventsSeen seen;
    for (const SealedFolder& folder : snapshot.sealed) {
        seen.segments.emplace(key_of(folder.path),
                              EventsSeen::Segment{.is_sealed = true, .records = folder.records});
    }
    for (const trace::SegmentReader& segment : snapshot.segments) {
        seen.segments.emplace(key_of(segment.path()), seen_of(segment));
    }
    return seen;
}

std::optional<NewEvents> new_events(const Snapshot& snapshot, const EventsSeen& seen) {
    NewEvents events;
    std::size_t found = 0;
    const auto seen_at = [&](const std::string& path) {
        const auto at = seen.segments.find(key_of(path));
        found += at == seen.segments.end() ? 0 : 1;
        return at == seen.segments.end() ? nullptr : &at->second;
    };
    for (const SealedFolder& folder : snapshot.sealed) {
        if (!add_sealed(folder, seen_at(folder.path), events)) {
            return std::nullopt;
        }
    }
    for (const trace::SegmentReader& segment : snapshot.segments) {
        if (!add_segment(segment, seen_at(segment.path()), events)) {
            return std::nullopt;
        }
    }
    return found == seen.segments.size() ? std::optional(std::move(events)) : std::nullopt;
}

std::string new_events_views(const NewEvents& events, const std::string& blocks_function) {
    std::string views;
    for (const schema::RecordInfo& info : schema::records()) {
        if (info.stream != schema::Stream::kEvents) {
            continue;
        }
        RawParts parts;
        parts.add_files(events.sealed, info);
        for (const NewEvents::Rest& rest : events.rests) {
            parts.add_files(std::span(&rest.folder, 1), info, is_after(rest.last_sequences));
        }
        if (!events.blocks.empty() || !parts.has_all_columns()) {
            parts.add_blocks(blocks_function, info);
        }
        views += parts.view(info, false);
    }
    return views;
}

}  // namespace dyetrace::store
