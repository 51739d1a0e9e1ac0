#include "exporter/perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

namespace dyetrace::exporter {
namespace {

// Numbers of fields, as perfetto/trace/*.proto has them.
constexpr std::uint32_t kTracePacket = 1;  // of Trace
enum PacketField : std::uint8_t {
    kClockSnapshot = 6,
    kTimestamp = 8,
    kSequenceId = 10,
    kTrackEvent = 11,
    kInternedData = 12,
    kSequenceFlags = 13,
    kTrackDescriptor = 60
};
enum SequenceFlag : std::uint8_t { kNamesBeginAnew = 1, kNeedsNames = 2 };
enum DescriptorField : std::uint8_t { kUuid = 1, kTrackName = 2, kParentUuid = 5 };
enum EventField : std::uint8_t {
    kCategoryNumber = 3,
    kAnnotation = 4,
    kType = 9,
    kNameNumber = 10,
    kTrackUuid = 11,
    kFlowId = 47,
    kEndingFlowId = 48
};
enum EventType : std::uint8_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };
enum AnnotationField : std::uint8_t {
    kAnnotationName = 1,
    kBoolValue = 2,
    kUintValue = 3,
    kIntValue = 4,
    kStringValue = 6,
    kJsonValue = 9,
    kStringNumber = 17
};
enum InternedField : std::uint8_t {
    kCategories = 1,
    kEventNames = 2,
    kAnnotationNames = 3,
    kStrings = 29
};
enum BuiltinClock : std::uint8_t { kRealtime = 1, kBoottime = 6 };

constexpr std::uint64_t kSequence = 1;  // one writer, one sequence of packets
constexpr std::int64_t kNeverEnds = std::numeric_limits<std::int64_t>::max();

// The ids of a trace's tasks are the same for a process and its first thread.
enum class TrackKind : std::uint8_t { kHost = 1, kLost, kProcess, kThread };

std::uint64_t uuid_of(TrackKind kind, std::uint64_t id) {
    return spread(spread(id + 1) + static_cast<std::uint64_t>(kind));
}

std::string task_name(std::string_view comm, std::uint32_t number) {
    return fmt::format("{}{}{}", comm, comm.empty() ? "" : " ", number);
}

}  // namespace

PerfettoWriter::PerfettoWriter(const Scene& scene, std::vector<ValueName> names, Sink sink)
    : scene_(scene),
      value_names_(std::move(names)),
      sink_(std::move(sink)),
      classes_{kCategories},
      event_names_{kEventNames},
      argument_names_{kAnnotationNames},
      strings_{kStrings} {}

Result<void> PerfettoWriter::begin(const PerfettoClock& clock) {
    offset_ns_ = clock.wall_offset_ns.value_or(0);
    ProtobufWriter to(out_);
    const auto packet = to.begin(kTracePacket);
    to.number(kSequenceId, kSequence);
    const auto snapshot = to.begin(kClockSnapshot);
    const auto reading = [&](BuiltinClock which, std::int64_t time) {
        const auto one = to.begin(1);
        to.number(1, which);
        to.number(2, static_cast<std::uint64_t>(time));
        to.end(one);
    };
    reading(kBoottime, clock.first_ns - offset_ns_);
    if (clock.wall_offset_ns) {
        reading(kRealtime, clock.first_ns);
    }
    to.number(2, kBoottime);  // the trace's own clock
    to.end(snapshot);
    to.end(packet);
    return {};
}

PerfettoWriter::Track& PerfettoWriter::track(std::uint64_t uuid,
                                             std::uint64_t parent,
                                             std::string_view name) {
    Track& track = tracks_[uuid];
    if (track.lanes.empty()) {
        track = {parent, std::string(name), false, {}};
        track.lanes.push_back({uuid, {}});
    }
    return track;
}

PerfettoWriter::Track& PerfettoWriter::host_track(std::uint32_t host_index) {
    const Host* const host = scene_.host_of(host_index);
    return track(uuid_of(TrackKind::kHost, host_index),
                 0,
                 host != nullptr ? host->name : fmt::format("host {}", host_index));
}

PerfettoWriter::Track& PerfettoWriter::lost_track(std::uint32_t host_index) {
    const std::uint64_t parent = host_track(host_index).lanes.front().uuid;
    return track(uuid_of(TrackKind::kLost, host_index), parent, "lost events");
}

PerfettoWriter::Track& PerfettoWriter::process_track(std::uint64_t process_id) {
    const std::uint64_t uuid = uuid_of(TrackKind::kProcess, process_id);
    if (const auto known = tracks_.find(uuid); known != tracks_.end()) {
        return known->second;
    }
    const auto process = scene_.processes.find(process_id);
    if (process == scene_.processes.end()) {
        return track(uuid, 0, fmt::format("process {}", process_id));
    }
    const std::uint64_t host = host_track(process->second.host_index).lanes.front().uuid;
    return track(uuid, host, task_name(process->second.comm, process->second.pid));
}

PerfettoWriter::Track& PerfettoWriter::thread_track(std::uint64_t thread_id) {
    const std::uint64_t uuid = uuid_of(TrackKind::kThread, thread_id);
    if (const auto known = tracks_.find(uuid); known != tracks_.end()) {
        return known->second;
    }
    const auto thread = scene_.threads.find(thread_id);
    if (thread == scene_.threads.end()) {
        return track(uuid, 0, fmt::format("thread {}", thread_id));
    }
    const std::uint64_t process = process_track(thread->second.process_id).lanes.front().uuid;
    return track(uuid, process, task_name(thread->second.comm, thread->second.tid));
}

void PerfettoWriter::describe(std::uint64_t uuid, Track& track) {
    if (track.is_described) {
        return;
    }
    track.is_described = true;
    if (const auto parent = tracks_.find(track.parent); parent != tracks_.end()) {
        describe(track.parent, parent->second);
    }
    write_descriptor(uuid, track.parent, track.name);
}

void PerfettoWriter::write_descriptor(std::uint64_t uuid,
                                      std::uint64_t parent,
                                      std::string_view name) {
    ProtobufWriter to(out_);
    const auto packet = to.begin(kTracePacket);
    to.number(kSequenceId, kSequence);
    const auto descriptor = to.begin(kTrackDescriptor);
    to.number(kUuid, uuid);
    if (parent != 0) {
        to.number(kParentUuid, parent);
    }
    to.text(kTrackName, name);
    to.end(descriptor);
    to.end(packet);
}

void PerfettoWriter::write_end(std::uint64_t uuid, std::int64_t time) {
    ProtobufWriter to(out_);
    const auto packet = to.begin(kTracePacket);
    to.number(kTimestamp, static_cast<std::uint64_t>(time - offset_ns_));
    to.number(kSequenceId, kSequence);
    const auto event = to.begin(kTrackEvent);
    to.number(kType, kSliceEnd);
    to.number(kTrackUuid, uuid);
    to.end(event);
    to.end(packet);
}

void PerfettoWriter::leave_until(Lane& lane, std::int64_t time) {
    while (!lane.ends.empty() && lane.ends.back() <= time && lane.ends.back() != kNeverEnds) {
        write_end(lane.uuid, lane.ends.back());
        lane.ends.pop_back();
    }
}

// The first lane in which it lies within what is under way there; null: there is no more room.
PerfettoWriter::Lane* PerfettoWriter::lane_for(Track& track, std::int64_t begin, std::int64_t end) {
    for (Lane& lane : track.lanes) {
        leave_until(lane, begin);
        if (lane.ends.empty() || end <= lane.ends.back()) {
            return &lane;
        }
    }
    if (track.lanes.size() == kLanesMax) {
        return nullptr;
    }
    const std::uint64_t uuid = spread(track.lanes.front().uuid + track.lanes.size());
    write_descriptor(uuid, track.lanes.front().uuid, track.name + ", overlapping");
    return &track.lanes.emplace_back(Lane{uuid, {}});
}

std::uint64_t PerfettoWriter::number_of(Names& names, std::string_view text) {
    const auto [place, is_new] =
        names.numbers.try_emplace(std::string(text), names.numbers.size() + 1);
    if (is_new) {
        ProtobufWriter to(interned_);
        const auto entry = to.begin(names.field);
        to.number(1, place->second);
        to.text(2, text);
        to.end(entry);
    }
    return place->second;
}

void PerfettoWriter::forget_names() {
    for (Names* names : {&classes_, &event_names_, &argument_names_, &strings_}) {
        names->numbers.clear();
    }
    forgets_ = true;
}

void PerfettoWriter::append_value(std::size_t name, std::string_view text) {
    ProtobufWriter to(event_);
    const auto annotation = to.begin(kAnnotation);
    to.number(kAnnotationName, number_of(argument_names_, value_names_[name].name));
    switch (value_names_[name].kind) {
        case ValueKind::kNumber:
        case ValueKind::kId: {
            const bool is_below_zero = text.starts_with('-');
            std::int64_t below = 0;
            std::uint64_t number = 0;
            is_below_zero ? std::from_chars(text.data(), text.data() + text.size(), below)
                          : std::from_chars(text.data(), text.data() + text.size(), number);
            is_below_zero ? to.number(kIntValue, static_cast<std::uint64_t>(below))
                          : to.number(kUintValue, number);
            break;
        }
        case ValueKind::kBool:
            to.number(kBoolValue, text == "true" ? 1 : 0);
            break;
        case ValueKind::kName:
            to.number(kStringNumber, number_of(strings_, text));
            break;
        case ValueKind::kText:
            to.text(kStringValue, text);
            break;
        case ValueKind::kJson:
            to.text(kJsonValue, text);
            break;
    }
    to.end(annotation);
}

void PerfettoWriter::append_values(const Event& event) {
    for (std::size_t i = 0; i < event.values.size() && i < value_names_.size(); ++i) {
        if (event.values[i]) {
            append_value(i, *event.values[i]);
        }
    }
    ProtobufWriter to(event_);
    for (const Flow& flow : event.flows_to) {
        to.fixed64(kFlowId, flow.id);
    }
    for (const Flow& flow : event.flows_from) {
        to.fixed64(kEndingFlowId, flow.id);
    }
}

void PerfettoWriter::write_event(std::int64_t time) {
    ProtobufWriter to(out_);
    const auto packet = to.begin(kTracePacket);
    to.number(kTimestamp, static_cast<std::uint64_t>(time - offset_ns_));
    to.number(kSequenceId, kSequence);
    to.number(kSequenceFlags, kNeedsNames | (std::exchange(forgets_, false) ? kNamesBeginAnew : 0));
    if (!interned_.empty()) {
        to.text(kInternedData, interned_);
    }
    to.text(kTrackEvent, event_);
    to.end(packet);
    interned_.clear();
    event_.clear();
}

Result<void> PerfettoWriter::add(const Event& event) {
    if (strings_.numbers.size() >= kNamesMax) {
        forget_names();
    }
    Track& track = thread_track(event.thread_id);
    describe(track.lanes.front().uuid, track);
    const bool is_slice = event.duration_ns.has_value() || event.is_unfinished;
    const std::int64_t end =
        event.duration_ns ? end_of(event.begin_ns, *event.duration_ns) : kNeverEnds;
    Lane* const lane = is_slice ? lane_for(track, event.begin_ns, end) : nullptr;
    if (lane == nullptr) {
        leave_until(track.lanes.front(), event.begin_ns);
    }
    crowded_ += is_slice && lane == nullptr ? 1 : 0;

    ProtobufWriter to(event_);
    to.number(kType, lane != nullptr ? kSliceBegin : kInstant);
    to.number(kTrackUuid, lane != nullptr ? lane->uuid : track.lanes.front().uuid);
    to.number(kCategoryNumber, number_of(classes_, event.event_class));
    to.number(kNameNumber, number_of(event_names_, event.name));
    append_values(event);
    write_event(event.begin_ns);
    if (lane != nullptr) {
        lane->ends.push_back(end);
    }
    return flush(kSinkBytes);
}

Result<void> PerfettoWriter::add(const LostEvents& lost) {
    Track& track = lost_track(lost.host_index);
    describe(track.lanes.front().uuid, track);
    const std::int64_t end = end_of(lost.begin_ns, lost.duration_ns);
    Lane* const lane = lane_for(track, lost.begin_ns, end);
    ProtobufWriter to(event_);
    to.number(kType, lane != nullptr ? kSliceBegin : kInstant);
    to.number(kTrackUuid, lane != nullptr ? lane->uuid : track.lanes.front().uuid);
    to.number(kCategoryNumber, number_of(classes_, "lost"));
    to.number(kNameNumber,
              number_of(event_names_,
                        lost.lost ? fmt::format("{} events lost", *lost.lost) : "events lost"));
    const auto value = [&](std::string_view name, std::string_view text) {
        const auto annotation = to.begin(kAnnotation);
        to.number(kAnnotationName, number_of(argument_names_, name));
        to.text(kStringValue, text);
        to.end(annotation);
    };
    value("reason", lost.reason);
    if (lost.cpu) {
        value("cpu", fmt::format("{}", *lost.cpu));
    }
    write_event(lost.begin_ns);
    if (lane != nullptr) {
        lane->ends.push_back(end);
    }
    return flush(kSinkBytes);
}

Result<void> PerfettoWriter::flush(std::size_t at_least) {
    if (out_.size() < at_least || out_.empty()) {
        return {};
    }
    Result<void> written = sink_(out_);
    out_.clear();
    return written;
}

Result<void> PerfettoWriter::end() {
    // the order of a hash table reaches no output
    std::vector<std::uint64_t> uuids;
    for (const auto& [uuid, track] : tracks_) {
        uuids.push_back(uuid);
    }
    std::sort(uuids.begin(), uuids.end());
    for (const std::uint64_t uuid : uuids) {
        for (Lane& lane : tracks_[uuid].lanes) {
            leave_until(lane, kNeverEnds);
        }
        TRY(flush(kSinkBytes));
    }
    return flush(0);
}

}  // namespace dyetrace::exporter
