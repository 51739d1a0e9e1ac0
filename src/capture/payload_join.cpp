#include "capture/payload_join.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "schema/payload.h"
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
               argument.type == "message_out";
    });
}

bool has_place(schema::ObjectType type) {
    return type == schema::ObjectType::kFile || type == schema::ObjectType::kBlockDevice ||
           type == schema::ObjectType::kMemory;
}

}  // namespace

void PayloadJoin::take_payload(std::uint32_t cpu, std::span<const std::byte> pieces) {
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
        waiting_[cpu].push_back(std::move(payload));
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

void PayloadJoin::pass(std::uint32_t cpu, std::span<const std::byte> events) {
    std::uint64_t behind = 0;
    for (schema::RecordBytes record = schema::first_record(events); !record.empty();
         record = schema::first_record(events)) {
        behind = schema::header_of(record).sequence + 1;
        events = events.subspan(record.size());
    }
    drop_before(cpu, behind);
}

void PayloadJoin::drop_before(std::uint32_t cpu, std::uint64_t sequence) {
    std::deque<Payload>& waiting = waiting_[cpu];
    while (!waiting.empty() && waiting.front().sequence < sequence) {
        left_out_ += waiting.front().bytes.size();
        waiting.pop_front();
    }
}

namespace {

bool has_second_object(const schema::SyscallEvent& event) {
    return (event.present & schema::SyscallEvent::kHasHandle2) != 0;
}
bool has_second_object(const schema::PartEvent&) {
    return false;
}

}  // namespace

template <typename Event>
void PayloadJoin::claim(std::uint32_t cpu, const Event& event, std::uint16_t call) {
    std::deque<Payload>& waiting = waiting_[cpu];
    drop_before(cpu, event.header.sequence);
    bool is_file = false;
    const Lane lane =
        lane_of(event.handle_id, is_inbound(static_cast<schema::Abi>(event.abi), call), is_file);
    std::optional<std::uint64_t> place;
    if (is_file && event.present & Event::kHasFileOffset && event.file_offset >= 0) {
        place = static_cast<std::uint64_t>(event.file_offset);
    } else if (!is_file && event.present & Event::kHasStreamOffset) {
        place = event.stream_offset;
    }
    const std::uint64_t moved =
        event.present & Event::kHasBytes ? static_cast<std::uint64_t>(event.bytes) : 0;
    std::uint64_t seen = 0;  // up to this position, without a hole
    while (!waiting.empty() && waiting.front().sequence == event.header.sequence) {
        Payload payload = std::move(waiting.front());
        waiting.pop_front();
        payload.lane = lane;
        payload.place = place ? std::optional(*place + payload.position) : std::nullopt;
        payload.end_ns = event.start_ns + event.duration_ns;
        payload.is_cut_before = payload.position != seen;
        seen = payload.position + payload.bytes.size();
        const bool is_last = waiting.empty() || waiting.front().sequence != event.header.sequence;
        payload.is_cut_behind = is_last ? seen < moved : waiting.front().position != seen;
        if (has_second_object(event)) {
            payload.is_in_two_lanes = true;
            payload.is_cut_before = payload.is_cut_before || payload.position == 0;
            payload.is_cut_behind = payload.is_cut_behind || is_last;
        }
        claimed_.push_back(std::move(payload));
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
    for (std::deque<Payload>& waiting : waiting_) {
        for (const Payload& payload : waiting) {
            left_out_ += payload.bytes.size();
        }
        waiting.clear();
    }
}

}  // namespace dyetrace::capture
