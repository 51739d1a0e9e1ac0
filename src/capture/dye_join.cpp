#include "capture/dye_join.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace dyetrace::capture {
namespace {

using schema::SyscallEvent;

// struct dye_edges of src/kernel/dye.bpf.c
struct EdgesHead {
    std::uint16_t first_bytes, last_bytes;
    std::uint32_t flags;
};
constexpr std::uint32_t kInbound = 1;
constexpr std::uint32_t kWhole = 2;
constexpr std::uint32_t kPeeked = 4;

struct Edges {
    EdgesHead head{};
    std::string_view first, last;
};

Edges edges_of(std::string_view attached) {
    Edges edges;
    if (attached.size() < sizeof(edges.head)) {
        return edges;
    }
    std::memcpy(&edges.head, attached.data(), sizeof(edges.head));
    attached.remove_prefix(sizeof(edges.head));
    edges.first = attached.substr(0, edges.head.first_bytes);
    edges.last = attached.substr(edges.first.size(), edges.head.last_bytes);
    return edges;
}

// Where two calls overlapped on one open file their positions may be wrong: no neighbour is known by them.
bool has_certain_offset(const SyscallEvent& event) {
    constexpr std::uint32_t kBits = SyscallEvent::kHasFileOffset | SyscallEvent::kHasOffsetCertain;
    return (event.present & kBits) == kBits;
}

// The kernel attaches them last: what is in front of them stays.
std::size_t bytes_before_edges(schema::RecordBytes record, std::string_view edges) {
    const auto* at = reinterpret_cast<const std::byte*>(edges.data());
    return static_cast<std::size_t>(at - record.data()) - sizeof(schema::AttachmentHeader);
}

void append_cut(schema::RecordBytes record, std::size_t size, std::vector<std::byte>& to) {
    const std::size_t at = to.size();
    to.insert(to.end(), record.begin(), record.begin() + static_cast<std::ptrdiff_t>(size));
    SyscallEvent event{};
    std::memcpy(&event, record.data(), sizeof(event));
    event.header.size = static_cast<std::uint32_t>(size);
    event.attachments = static_cast<std::uint16_t>(size - sizeof(event));
    std::memcpy(to.data() + at, &event, sizeof(event));
}

}  // namespace

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
        const auto* call = schema::as<SyscallEvent>(record);
        const bool moves =
            call != nullptr && (call->present & SyscallEvent::kHasBytes) != 0 && call->bytes > 0;
        if (const auto* hit = schema::as<schema::DyeHit>(record)) {
            ++hits_[hit->dye_id];
        }
        if (const auto* part = schema::as<schema::PartEvent>(record);
            part != nullptr && part->bytes > 0) {
            wait_unseen(
                part->handle_id, part->start_ns + part->duration_ns, part->bytes, std::nullopt);
        }
        if (!moves) {
            stripped.insert(stripped.end(), record.begin(), record.end());
            continue;
        }
        if (const auto look = schema::dye_look_of(*call)) {
            candidates_dropped_ += look->candidates_dropped;
        }
        const auto edges = schema::attachment(*call, schema::Attachment::kDyeEdges);
        if (edges) {
            wait_for_turn(cpu, *call, *edges);
        } else {
            wait_unseen(*call);
        }
        append_cut(record, edges ? bytes_before_edges(record, *edges) : record.size(), stripped);
    }
}

void DyeJoin::wait_unseen(const SyscallEvent& event) {
    const std::uint64_t end_ns = event.start_ns + event.duration_ns;
    const auto position =
        has_certain_offset(event) ? std::optional(event.file_offset) : std::nullopt;
    if ((event.present & SyscallEvent::kHasHandle) != 0) {
        wait_unseen(event.handle_id, end_ns, event.bytes, position);
    }
    if ((event.present & SyscallEvent::kHasHandle2) != 0) {
        wait_unseen(event.handle2_id, end_ns, event.bytes, std::nullopt);
    }
}

void DyeJoin::wait_unseen(std::uint32_t handle_id,
                          std::uint64_t end_ns,
                          std::int64_t bytes,
                          std::optional<std::int64_t> position) {
    const Handle* handle = handles_.find(handle_id);
    if (handle == nullptr || !(handle->has_order || position)) {
        return;
    }
    Waiting waiting;
    waiting.end_ns = end_ns;
    waiting.piece.object_id = handle->object_id;
    waiting.piece.length = static_cast<std::uint64_t>(bytes);
    if (!handle->has_order) {
        waiting.piece.position = static_cast<std::uint64_t>(*position);
    }
    waiting_.push_back(std::move(waiting));
}

void DyeJoin::wait_for_turn(std::uint32_t cpu,
                            const SyscallEvent& event,
                            std::string_view attached) {
    const bool has_handle = (event.present & SyscallEvent::kHasHandle) != 0;
    const Handle* handle = has_handle ? handles_.find(event.handle_id) : nullptr;
    const bool in_stream = (event.present & SyscallEvent::kHasStreamOffset) != 0;
    const bool in_file = has_certain_offset(event);
    const Edges edges = edges_of(attached);
    const bool peeked = (edges.head.flags & kPeeked) != 0;
    if (handle == nullptr || !(in_stream || in_file || (handle->has_order && !peeked))) {
        return;
    }
    Waiting waiting;
    waiting.end_ns = event.start_ns + event.duration_ns;
    waiting.seen = true;
    DyePiece& piece = waiting.piece;
    piece.cpu = cpu;
    piece.sequence = event.header.sequence;
    piece.object_id = handle->object_id;
    piece.inbound = (edges.head.flags & kInbound) != 0;
    piece.length = static_cast<std::uint64_t>(event.bytes);
    piece.first = edges.first;
    piece.last = edges.last;
    piece.whole = (edges.head.flags & kWhole) != 0;
    if (in_stream || in_file) {
        piece.position =
            in_stream ? event.stream_offset : static_cast<std::uint64_t>(event.file_offset);
    }
    waiting_.push_back(std::move(waiting));
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
            const std::size_t before = found_.size();
            const std::pair event(one->piece.cpu, one->piece.sequence);
            borders_.join(table, std::move(one->piece), found_);
            if (std::any_of(found_.begin() + static_cast<std::ptrdiff_t>(before),
                            found_.end(),
                            [](const DyeCrossing& crossing) { return crossing.anchor == 0; })) {
                touched_.push_back(event);
            }
        } else {
            borders_.forget(one->piece.object_id, one->piece.position, one->piece.length);
        }
    }
    waiting_.erase(waiting_.begin(), turn);
    for (const DyeCrossing& one : found_) {
        if (one.anchor != 0) {
            schema::Anchor anchor{};
            anchor.parent_sequence = one.sequence;
            anchor.position = one.position;
            anchor.fingerprint = one.anchor;
            if (!table.anchors()->has_key()) {  // as in the kernel: records_sums()
                anchor.prefix_sum = one.prefix_sum;
                anchor.present = schema::Anchor::kHasPrefixSum;
            }
            anchor.cpu = one.cpu;
            anchor_crossings_.push_back(anchor);
            continue;
        }
        schema::DyeHit hit{};
        hit.parent_sequence = one.sequence;
        hit.position = one.position;
        hit.dye_id = one.dye;
        hit.cpu = one.cpu;
        hit.form = static_cast<std::uint8_t>(one.form);
        ++hits_[hit.dye_id];
        crossings_.push_back(hit);
        touched_.emplace_back(one.cpu, one.sequence);
    }
}

}  // namespace dyetrace::capture
