#include "capture/payload_join.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernel/abi.h"
#include "schema/syscalls.h"

namespace dyetrace::capture {
namespace {

// Does it put bytes into the program's memory?
bool is_inbound(schema::Abi abi, std::uint16_t number) {
    const schema::SyscallInfo* call = schema::find_syscall(abi, number);
    if (call == nullptr) {
        return false;
    }
    const auto arguments = std::span(call->arguments).first(call->argument_count);
    return std::any_of(arguments.begin(), arguments.end(), [](const auto& argument) {
        return argument.type == "bytes_out" || argument.type == "iovec_out" ||
               argument.type == "message_out" || argument.type == "iovec_local_out" ||
               argument.type == "typed_out";
    });
}

bool has_place(schema::ObjectType type) {
    return type == schema::ObjectType::kFile || type == schema::ObjectType::kBlockDevice ||
           type == schema::ObjectType::kMemory;
}

}  // namespace

void PayloadJoin::take_payload(std::uint32_t cpu, std::span<const std::byte> pieces) {
    Waiting& waiting = waiting_[cpu];
    payload_piece piece{};
    while (pieces.size() >= sizeof(piece)) {
        std::memcpy(&piece, pieces.data(), sizeof(piece));
        const std::size_t size = std::min<std::size_t>(piece.size, pieces.size());
        if (size < sizeof(piece) + piece.length) {
            return;
        }
        Payload payload;
        payload.cpu = static_cast<std::uint16_t>(cpu);
        payload.sequence = piece.event_sequence;
        payload.position = piece.position;
        const auto bytes = pieces.subspan(sizeof(piece), piece.length);
        payload.bytes.assign(bytes.begin(), bytes.end());
        waiting.bytes += payload.bytes.size();
        waiting.pieces.push_back(std::move(payload));
        while (waiting.bytes > waiting_bytes_max_) {
            lost_ += take_oldest(waiting).bytes.size();
        }
        pieces = pieces.subspan(size);
    }
}

void PayloadJoin::take_facts(std::span<const std::byte> records) {
    for (schema::RecordBytes record = schema::first_record(records); !record.empty();
         record = schema::first_record(records)) {
        if (const auto* handle = schema::as<schema::Handle>(record)) {
            if (handles_.size() >= kHandlesMax) {
                handles_.clear();
            }
            handles_[handle->handle_id] = {handle->object_id,
                                           static_cast<schema::ObjectType>(handle->object_type)};
        }
        records = records.subspan(record.size());
    }
}

void PayloadJoin::take_events(std::uint32_t cpu, std::span<const std::byte> kept) {
    for (schema::RecordBytes record = schema::first_record(kept); !record.empty();
         record = schema::first_record(kept)) {
        if (const auto* event = schema::as<schema::SyscallEvent>(record)) {
            claim(cpu, *event, event->syscall);
        } else if (const auto* part = schema::as<schema::PartEvent>(record)) {
            claim(cpu, *part, part->operation);
        }
        kept = kept.subspan(record.size());
    }
}

Lane PayloadJoin::lane_of(std::uint32_t handle_id, bool is_inbound, bool& is_file) const {
    const auto handle = handles_.find(handle_id);
    if (handle == handles_.end()) {
        is_file = false;
        return {~handle_id, is_inbound};  // objects count from below
    }
    is_file = has_place(handle->second.type);
    return {handle->second.object_id, !is_file && is_inbound};
}

Payload PayloadJoin::take_oldest(Waiting& waiting) {
    Payload oldest = std::move(waiting.pieces.front());
    waiting.pieces.pop_front();
    waiting.bytes -= oldest.bytes.size();
    return oldest;
}

void PayloadJoin::drop_before(Waiting& waiting, std::uint64_t sequence) {
    while (!waiting.pieces.empty() && waiting.pieces.front().sequence < sequence) {
        left_out_ += take_oldest(waiting).bytes.size();
    }
}

namespace {

bool has_second_object(const schema::SyscallEvent& event) {
    return (event.present & schema::SyscallEvent::kHasHandle2) != 0;
}
bool has_second_object(const schema::PartEvent&) {
    return false;
}

template <typename Event>
std::optional<std::uint64_t> place_of(const Event& event, bool is_file) {
    if (has_second_object(event)) {
        return std::nullopt;
    }
    if (!is_file) {
        return event.present & Event::kHasStreamOffset ? std::optional(event.stream_offset)
                                                       : std::nullopt;
    }
    const bool is_sure = (event.present & Event::kHasFileOffset) != 0 &&
                         (event.present & Event::kHasOffsetCertain) != 0 && event.file_offset >= 0;
    return is_sure ? std::optional(static_cast<std::uint64_t>(event.file_offset)) : std::nullopt;
}

}  // namespace

template <typename Event>
void PayloadJoin::claim(std::uint32_t cpu, const Event& event, std::uint16_t call) {
    Waiting& waiting = waiting_[cpu];
    drop_before(waiting, event.header.sequence);
    bool is_file = false;
    const Lane lane =
        lane_of(event.handle_id, is_inbound(static_cast<schema::Abi>(event.abi), call), is_file);
    const std::optional<std::uint64_t> place = place_of(event, is_file);
    bool is_first = true;
    while (!waiting.pieces.empty() && waiting.pieces.front().sequence == event.header.sequence) {
        Payload piece = take_oldest(waiting);
        Payload* last = is_first ? nullptr : &claimed_.back();
        if (last != nullptr && last->position + last->bytes.size() == piece.position) {
            last->bytes.insert(last->bytes.end(), piece.bytes.begin(), piece.bytes.end());
            continue;
        }
        piece.lane = lane;
        piece.place = place ? std::optional(*place + piece.position) : std::nullopt;
        piece.end_ns = event.start_ns + event.duration_ns;
        claimed_.push_back(std::move(piece));
        is_first = false;
    }
}

void PayloadJoin::release(std::uint64_t before_ns, const std::function<void(Payload)>& sink) {
    const auto later =
        std::stable_partition(claimed_.begin(), claimed_.end(), [&](const Payload& payload) {
            return payload.end_ns < before_ns;
        });
    std::stable_sort(claimed_.begin(), later, [](const Payload& a, const Payload& b) {
        return a.end_ns < b.end_ns;
    });
    std::for_each(claimed_.begin(), later, [&](Payload& payload) { sink(std::move(payload)); });
    claimed_.erase(claimed_.begin(), later);
}

void PayloadJoin::give_up() {
    for (Waiting& waiting : waiting_) {
        drop_before(waiting, UINT64_MAX);
    }
}

}  // namespace dyetrace::capture
