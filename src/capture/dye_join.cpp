#include "capture/dye_join.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "kernel/abi.h"

namespace dyetrace::capture {
namespace {

using schema::PartEvent;
using schema::SyscallEvent;

struct Edges {
    std::uint32_t flags = 0;
    std::string_view first, last;
};

Edges edges_of(std::string_view attached) {
    Edges edges;
    constexpr std::size_t kHeadBytes = offsetof(dye_edges, bytes);
    if (attached.size() < kHeadBytes) {
        return edges;
    }
    const auto* head =
        reinterpret_cast<const dye_edges*>(attached.data());  // no more than the head
    attached.remove_prefix(kHeadBytes);
    edges.flags = head->flags;
    edges.first = attached.substr(0, head->first_bytes);
    edges.last = attached.substr(edges.first.size(), head->last_bytes);
    return edges;
}

// Where two calls overlapped on one open file their positions may be wrong: no neighbour is known by them.
template <typename Event>
bool has_certain_offset(const Event& event) {
    constexpr std::uint32_t kBits = Event::kHasFileOffset | Event::kHasOffsetCertain;
    return (event.present & kBits) == kBits;
}

bool has_certain_offset2(const SyscallEvent& event) {
    constexpr std::uint32_t kBits =
        SyscallEvent::kHasFileOffset2 | SyscallEvent::kHasOffset2Certain;
    return (event.present & kBits) == kBits;
}

template <typename Event>
std::optional<std::uint64_t> position_of(const Event& event) {
    if ((event.present & Event::kHasStreamOffset) != 0) {
        return event.stream_offset;
    }
    return has_certain_offset(event) ? std::optional(static_cast<std::uint64_t>(event.file_offset))
                                     : std::nullopt;
}

// The kernel attaches them last: what is in front of them stays.
std::size_t bytes_before_edges(schema::RecordBytes record, std::string_view edges) {
    const auto* at = reinterpret_cast<const std::byte*>(edges.data());
    return static_cast<std::size_t>(at - record.data()) - sizeof(schema::AttachmentHeader);
}

template <typename Event>
void append_cut(schema::RecordBytes record, std::size_t size, std::vector<std::byte>& to) {
    const std::size_t at = to.size();
    to.insert(to.end(), record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size));
    Event event{};
    std::memcpy(&event, record.data(), sizeof(event));
    event.header.size = static_cast<std::uint32_t>(size);
    event.attachments = static_cast<std::uint16_t>(size - sizeof(event));
    std::memcpy(to.data() + at, &event, sizeof(event));
}

schema::Anchor anchor_of(const DyeCrossing& one, bool has_sum) {
    schema::Anchor anchor{};
    anchor.parent_sequence = one.sequence;
    anchor.position = one.position;
    anchor.fingerprint = one.anchor;
    anchor.cpu = one.cpu;
    if (has_sum) {
        anchor.prefix_sum = one.prefix_sum;
        anchor.present |= schema::Anchor::kHasPrefixSum;
    }
    anchor.present |= one.second ? schema::Anchor::kHasSecond : 0u;
    return anchor;
}

schema::DyeHit hit_of(const DyeCrossing& one) {
    schema::DyeHit hit{};
    hit.parent_sequence = one.sequence;
    hit.position = one.position;
    hit.dye_id = one.dye;
    hit.cpu = one.cpu;
    hit.form = static_cast<std::uint8_t>(one.form);
    hit.second = one.second ? 1 : 0;
    return hit;
}

}  // namespace

template <typename Event>
DyeJoin::Moved DyeJoin::moved_by_any(const Event& event) {
    Moved moved;
    moved.sequence = event.header.sequence;
    moved.end_ns = event.start_ns + event.duration_ns;
    moved.bytes = static_cast<std::uint64_t>(event.bytes);
    if ((event.present & Event::kHasHandle) != 0) {
        moved.first.handle_id = event.handle_id;
    }
    moved.first.position = position_of(event);
    return moved;
}

DyeJoin::Moved DyeJoin::moved_by(const SyscallEvent& event) {
    Moved moved = moved_by_any(event);
    if ((event.present & SyscallEvent::kHasHandle2) != 0) {
        moved.second.handle_id = event.handle2_id;
        moved.told = std::make_shared<DyesTold>();
    }
    if (has_certain_offset2(event)) {
        moved.second.position = static_cast<std::uint64_t>(event.file_offset2);
    }
    return moved;
}

// Control blocks end when the program asks for them, which says nothing of their order.
DyeJoin::Moved DyeJoin::moved_by(const PartEvent& part) {
    Moved moved = moved_by_any(part);
    moved.has_order = part.cookie == 0;
    return moved;
}

void DyeJoin::learn(std::span<const std::byte> facts) {
    while (!facts.empty()) {
        const schema::RecordBytes record = schema::first_record(facts);
        if (record.empty()) {
            return;
        }
        facts = facts.subspan(record.size());
        if (const auto* handle = schema::as<schema::Handle>(record)) {
            Handle& known = handles_.insert(handle->handle_id);
            known.object_id = handle->object_id;
            known.has_order =
                static_cast<schema::ObjectType>(handle->object_type) == schema::ObjectType::kPipe;
        } else if (const auto* socket = schema::as<schema::Socket>(record)) {
            handles_.insert(socket->handle_id).has_order =
                socket->family == AF_UNIX && socket->socket_type == SOCK_STREAM;
        }
    }
}

void DyeJoin::take(std::uint32_t cpu,
                   std::span<const std::byte> events,
                   std::vector<std::byte>& stripped) {
    while (!events.empty()) {
        const schema::RecordBytes record = schema::first_record(events);
        if (record.empty()) {
            return;
        }
        events = events.subspan(record.size());
        if (const auto* call = schema::as<SyscallEvent>(record)) {
            if (const auto look = schema::dyes_found_in(*call)) {
                candidates_dropped_ += look->candidates_dropped;
            }
            take_event(cpu, record, *call, stripped);
        } else if (const auto* part = schema::as<PartEvent>(record)) {
            take_event(cpu, record, *part, stripped);
        } else {
            if (const auto* hit = schema::as<schema::DyeHit>(record)) {
                ++hits_[hit->dye_id];
            }
            stripped.insert(stripped.end(), record.begin(), record.end());
        }
    }
}

template <typename Event>
void DyeJoin::take_event(std::uint32_t cpu,
                         schema::RecordBytes record,
                         const Event& event,
                         std::vector<std::byte>& stripped) {
    if ((event.present & Event::kHasBytes) == 0 || event.bytes <= 0) {
        stripped.insert(stripped.end(), record.begin(), record.end());
        return;
    }
    const auto edges = schema::attachment(event, schema::Attachment::kDyeEdges);
    const Moved moved = moved_by(event);
    for (const bool second : {false, true}) {
        if (edges) {
            wait_for_turn(cpu, moved, second, *edges);
        } else {
            wait_unseen(moved, second);
        }
    }
    append_cut<Event>(record, edges ? bytes_before_edges(record, *edges) : record.size(), stripped);
}

void DyeJoin::wait_unseen(const Moved& moved, bool second) {
    const Place& place = second ? moved.second : moved.first;
    const Handle* handle = place.handle_id != 0 ? handles_.find(place.handle_id) : nullptr;
    if (handle == nullptr || !(handle->has_order || place.position)) {
        return;
    }
    Waiting waiting;
    waiting.end_ns = moved.end_ns;
    waiting.piece.object_id = handle->object_id;
    waiting.piece.length = moved.bytes;
    if (!handle->has_order) {
        waiting.piece.position = place.position;
    }
    waiting_.push_back(std::move(waiting));
}

void DyeJoin::wait_for_turn(std::uint32_t cpu,
                            const Moved& moved,
                            bool second,
                            std::string_view attached) {
    const Place& place = second ? moved.second : moved.first;
    const Handle* handle = place.handle_id != 0 ? handles_.find(place.handle_id) : nullptr;
    const Edges edges = edges_of(attached);
    const bool peeked = (edges.flags & EDGE_PEEKED) != 0;
    if (handle == nullptr || !(place.position || (handle->has_order && !peeked))) {
        return;
    }
    if (!place.position && !moved.has_order) {
        wait_unseen(moved, second);
        return;
    }
    Waiting waiting;
    waiting.end_ns = moved.end_ns;
    waiting.seen = true;
    DyePiece& piece = waiting.piece;
    piece.cpu = cpu;
    piece.sequence = moved.sequence;
    piece.object_id = handle->object_id;
    piece.inbound = ((edges.flags & EDGE_INBOUND) != 0) != second;
    piece.second = second;
    piece.position = place.position;
    piece.length = moved.bytes;
    piece.first = edges.first;
    piece.last = edges.last;
    piece.whole = (edges.flags & EDGE_WHOLE) != 0;
    piece.told = moved.told;
    waiting_.push_back(std::move(waiting));
}

void DyeJoin::join_piece(const DyeTable& table, DyePiece piece) {
    const std::pair event(piece.cpu, piece.sequence);
    const auto before = static_cast<std::ptrdiff_t>(found_.size());
    borders_.join(table, std::move(piece), found_);
    if (std::any_of(found_.begin() + before, found_.end(), [](const DyeCrossing& crossing) {
            return crossing.anchor == 0;
        })) {
        touched_.push_back(event);
    }
}

void DyeJoin::hand_out(const DyeTable& table, const DyeCrossing& one) {
    if (one.anchor != 0) {  // with sums as in the kernel: records_sums()
        anchor_crossings_.push_back(anchor_of(one, !table.anchors()->has_key()));
        return;
    }
    crossings_.push_back(hit_of(one));
    ++hits_[one.dye];
    touched_.emplace_back(one.cpu, one.sequence);
}

void DyeJoin::join(const DyeTable& table, std::uint64_t until_ns) {
    found_.clear();
    crossings_.clear();
    touched_.clear();
    anchor_crossings_.clear();
    const auto turn =
        std::stable_partition(waiting_.begin(), waiting_.end(), [&](const Waiting& one) {
            return one.end_ns <= until_ns;
        });
    std::stable_sort(waiting_.begin(), turn, [](const Waiting& a, const Waiting& b) {
        return a.end_ns < b.end_ns;
    });
    for (auto one = waiting_.begin(); one != turn; ++one) {
        if (one->seen) {
            join_piece(table, std::move(one->piece));
        } else {
            borders_.forget(one->piece.object_id, one->piece.position, one->piece.length);
        }
    }
    waiting_.erase(waiting_.begin(), turn);
    for (const DyeCrossing& one : found_) {
        hand_out(table, one);
    }
}

}  // namespace dyetrace::capture
