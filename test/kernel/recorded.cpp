#include "kernel/recorded.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <tuple>

#include "schema/errors.h"
#include "schema/syscalls.h"
#include "schema/text.h"

namespace dyetrace::test {
namespace {

using schema::PartEvent;
using schema::SyscallEvent;

constexpr int kFailedStatus = 42;

std::string call_name(std::uint8_t abi, std::uint16_t number) {
    const auto* call = schema::find_syscall(static_cast<schema::Abi>(abi), number);
    return call != nullptr ? std::string(call->name) : "call_" + std::to_string(number);
}

template <typename Record>
std::optional<std::string> text_of(const Record& record, schema::Attachment kind) {
    const auto found = schema::attachment(record, kind);
    return found ? std::optional<std::string>(*found) : std::nullopt;
}

template <typename Record>
std::string address_of(const Record& record) {
    const auto bytes = schema::attachment(record, schema::Attachment::kAddress);
    const auto parsed = bytes ? schema::parse_socket_address(*bytes) : std::nullopt;
    if (!parsed) {
        return "";
    }
    return parsed->has_port ? parsed->address + ":" + std::to_string(parsed->port)
                            : parsed->address;
}

const schema::Object* object_of(const Records& records, bool present, std::uint32_t handle) {
    return present ? records.dictionary->object(handle) : nullptr;
}

std::string name_of(const schema::Object* object) {
    return object != nullptr && object->name() != nullptr ? *object->name() : "";
}

std::string join(const std::string& base, const std::string& name) {
    if (name.empty()) {
        return base;
    }
    const bool slash = name.front() == '/' || (!base.empty() && base.back() == '/');
    return slash ? base + name : base + "/" + name;
}

}  // namespace

void require(bool condition, const char* what) {
    if (condition) {
        return;
    }
    const int error = errno;
    dprintf(STDERR_FILENO, "in the child: %s does not hold (errno %d)\n", what, error);
    _exit(kFailedStatus);
}

std::string Part::operation() const {
    return call_name(raw_->abi, raw_->operation);
}
std::optional<std::int64_t> Part::when(std::uint32_t bit, std::int64_t value) const {
    return (raw_->present & bit) != 0 ? std::optional(value) : std::nullopt;
}
std::optional<std::int64_t> Part::result() const {
    return when(PartEvent::kHasResult, raw_->result);
}
std::optional<std::int64_t> Part::fd() const {
    return when(PartEvent::kHasFd, raw_->fd);
}
std::optional<std::int64_t> Part::bytes() const {
    return when(PartEvent::kHasBytes, raw_->bytes);
}
std::optional<std::int64_t> Part::requested() const {
    return when(PartEvent::kHasRequested, static_cast<std::int64_t>(raw_->requested));
}
std::optional<std::int64_t> Part::file_offset() const {
    return when(PartEvent::kHasFileOffset, raw_->file_offset);
}
std::optional<std::int64_t> Part::stream_offset() const {
    return when(PartEvent::kHasStreamOffset, static_cast<std::int64_t>(raw_->stream_offset));
}
std::optional<std::int64_t> Part::duration_ns() const {
    return when(PartEvent::kHasDuration, static_cast<std::int64_t>(raw_->duration_ns));
}
const schema::Object* Part::object() const {
    return object_of(*records_, (raw_->present & PartEvent::kHasHandle) != 0, raw_->handle_id);
}
std::string Part::address() const {
    return address_of(*raw_);
}

Event::Event(std::shared_ptr<const Records> records, std::size_t index)
    : records_(std::move(records)),
      index_(index),
      raw_(schema::as<SyscallEvent>(std::as_bytes(std::span(records_->events[index])))) {}

std::string Event::name() const {
    return call_name(raw_->abi, raw_->syscall);
}
std::string Event::error() const {
    return raw_->result < 0 ? schema::error_name(raw_->result) : "";
}
bool Event::entry_missed() const {
    return (raw_->present & SyscallEvent::kHasEntryMissed) != 0;
}
bool Event::offset_certain() const {
    return (raw_->present & SyscallEvent::kHasOffsetCertain) != 0;
}

std::optional<std::int64_t> Event::when(std::uint32_t bit, std::int64_t value) const {
    return (raw_->present & bit) != 0 ? std::optional(value) : std::nullopt;
}
std::optional<std::int64_t> Event::fd() const {
    return when(SyscallEvent::kHasFd, raw_->fd);
}
std::optional<std::int64_t> Event::bytes() const {
    return when(SyscallEvent::kHasBytes, raw_->bytes);
}
std::optional<std::int64_t> Event::requested() const {
    return when(SyscallEvent::kHasRequested, static_cast<std::int64_t>(raw_->requested));
}
std::optional<std::int64_t> Event::file_offset() const {
    return when(SyscallEvent::kHasFileOffset, raw_->file_offset);
}
std::optional<std::int64_t> Event::file_offset2() const {
    return when(SyscallEvent::kHasFileOffset2, raw_->file_offset2);
}
std::optional<std::int64_t> Event::object_size() const {
    return when(SyscallEvent::kHasObjectSize, raw_->object_size);
}
std::optional<std::int64_t> Event::stream_offset() const {
    return when(SyscallEvent::kHasStreamOffset, static_cast<std::int64_t>(raw_->stream_offset));
}
std::optional<std::int64_t> Event::open_flags() const {
    return when(SyscallEvent::kHasOpenFlags, raw_->open_flags);
}
std::optional<std::int64_t> Event::duration_ns() const {
    return when(SyscallEvent::kHasDuration, static_cast<std::int64_t>(raw_->duration_ns));
}
std::optional<std::int64_t> Event::target_tid() const {
    return when(SyscallEvent::kHasTarget, raw_->target_tid);
}

const schema::Object* Event::base(std::uint32_t present,
                                  std::uint32_t base_bit,
                                  std::uint32_t handle) const {
    const std::uint32_t both = present | base_bit;
    return object_of(*records_, (raw_->present & both) == both, handle);
}

std::string Event::path() const {
    const auto* from = base(SyscallEvent::kHasHandle, SyscallEvent::kHasNamesBase, raw_->handle_id);
    if (from != nullptr) {
        return join(name_of(from), argument_path().value_or(""));
    }
    return object() != nullptr ? name_of(object()) : argument_path().value_or("");
}

std::string Event::path2() const {
    const auto* from =
        base(SyscallEvent::kHasHandle2, SyscallEvent::kHasNamesBase2, raw_->handle2_id);
    if (from != nullptr) {
        return join(name_of(from), argument_path2().value_or(""));
    }
    return object2() != nullptr ? name_of(object2()) : argument_path2().value_or("");
}

std::optional<std::string> Event::argument_path() const {
    return text_of(*raw_, schema::Attachment::kPath);
}
std::optional<std::string> Event::argument_path2() const {
    return text_of(*raw_, schema::Attachment::kPath2);
}
std::string Event::address() const {
    return address_of(*raw_);
}

const schema::Object* Event::object() const {
    const bool known = (raw_->present & (SyscallEvent::kHasHandle | SyscallEvent::kHasNamesBase)) ==
                       SyscallEvent::kHasHandle;
    return object_of(*records_, known, raw_->handle_id);
}

const schema::Object* Event::object2() const {
    const bool known =
        (raw_->present & (SyscallEvent::kHasHandle2 | SyscallEvent::kHasNamesBase2)) ==
        SyscallEvent::kHasHandle2;
    return object_of(*records_, known, raw_->handle2_id);
}

std::uint64_t Event::connection_id() const {
    return object() != nullptr && object()->socket ? object()->socket->connection_id : 0;
}

const schema::Task* Event::task() const {
    return records_->dictionary->task(raw_->context_id);
}

std::vector<Part> Event::parts() const {
    std::vector<Part> result;
    for (std::size_t i = 0; i < records_->events.size(); ++i) {
        const auto* part = schema::as<PartEvent>(std::as_bytes(std::span(records_->events[i])));
        if (part != nullptr && records_->cpus[i] == records_->cpus[index_] &&
            part->parent_sequence == raw_->header.sequence) {
            result.emplace_back(records_, part);
        }
    }
    return result;
}

std::vector<Touched> Event::touched() const {
    std::vector<Touched> result;
    for (std::size_t i = 0; i < records_->events.size(); ++i) {
        const auto* one =
            schema::as<schema::EventObject>(std::as_bytes(std::span(records_->events[i])));
        if (one != nullptr && records_->cpus[i] == records_->cpus[index_] &&
            one->parent_sequence == raw_->header.sequence) {
            result.push_back({static_cast<schema::EventRole>(one->role),
                              one->fd,
                              one->events,
                              one->asked_events,
                              one->range_begin,
                              one->range_end,
                              records_->dictionary->object(one->handle_id)});
        }
    }
    return result;
}

std::vector<DyeHit> Event::dye_hits() const {
    std::vector<DyeHit> result;
    for (const auto* records : {&records_->events, &records_->facts}) {
        for (const auto& words : *records) {
            const auto* hit = schema::as<schema::DyeHit>(std::as_bytes(std::span(words)));
            if (hit != nullptr && hit->cpu == cpu() &&
                hit->parent_sequence == raw_->header.sequence) {
                result.push_back(
                    {hit->dye_id, static_cast<schema::DyeForm>(hit->form), hit->position});
            }
        }
    }
    std::sort(result.begin(), result.end(), [](const DyeHit& a, const DyeHit& b) {
        return std::tie(a.position, a.dye) < std::tie(b.position, b.dye);
    });
    return result;
}

std::vector<FoundAnchor> Event::anchors() const {
    std::vector<FoundAnchor> result;
    for (const auto* records : {&records_->events, &records_->facts}) {
        for (const auto& words : *records) {
            const auto* anchor = schema::as<schema::Anchor>(std::as_bytes(std::span(words)));
            if (anchor != nullptr && anchor->cpu == cpu() &&
                anchor->parent_sequence == raw_->header.sequence) {
                const bool has_sum = (anchor->present & schema::Anchor::kHasPrefixSum) != 0;
                result.push_back({anchor->position,
                                  anchor->fingerprint,
                                  has_sum ? std::optional(anchor->prefix_sum) : std::nullopt});
            }
        }
    }
    std::ranges::sort(result, {}, &FoundAnchor::position);
    return result;
}

std::optional<content::WindowSketch> Event::sketch_of(std::uint64_t sequence) const {
    for (std::size_t i = 0; i < records_->events.size(); ++i) {
        const auto* one = schema::as<schema::Sketch>(std::as_bytes(std::span(records_->events[i])));
        if (one == nullptr || records_->cpus[i] != cpu() || one->parent_sequence != sequence) {
            continue;
        }
        const auto bytes = schema::attachment(*one, schema::Attachment::kSketch).value_or("");
        content::WindowSketch sketch{one->distance, {}};
        sketch.windows.resize(bytes.size() / sizeof(sketch.windows[0]));
        std::memcpy(sketch.windows.data(), bytes.data(), bytes.size());
        return sketch;
    }
    return std::nullopt;
}

Trace::Trace(std::shared_ptr<const Records> records,
             int status,
             capture::Accounting accounting,
             int gate_fd)
    : records_(std::move(records)), status_(status), accounting_(accounting) {
    for (std::size_t i = 0; i < records_->events.size(); ++i) {
        if (schema::as<SyscallEvent>(std::as_bytes(std::span(records_->events[i]))) != nullptr) {
            events_.emplace_back(records_, i);
        }
    }
    std::stable_sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) {
        return a.raw().start_ns < b.raw().start_ns;
    });
    // the read at the gate, in which the child waited to be marked, and the look at its root
    if (events_.size() >= 3 && events_[0].name() == "read" && events_[0].fd() == gate_fd) {
        events_.erase(events_.begin(), events_.begin() + 3);
    }
}

std::vector<Event> Trace::all(std::string_view name) const {
    std::vector<Event> result;
    std::copy_if(events_.begin(), events_.end(), std::back_inserter(result), [&](const Event& e) {
        return e.name() == name;
    });
    return result;
}

Event Trace::nth(std::string_view name, std::size_t index) const {
    const std::vector<Event> found = all(name);
    if (index < found.size()) {
        return found[index];
    }
    ADD_FAILURE() << "there are " << found.size() << " events of " << name << ", number " << index
                  << " was asked for";
    auto nothing = std::make_shared<Records>();
    nothing->events.emplace_back(sizeof(SyscallEvent) / 8);
    const schema::RecordHeader header{sizeof(SyscallEvent), SyscallEvent::kId, 0, 0};
    std::memcpy(nothing->events[0].data(), &header, sizeof(header));
    nothing->cpus.push_back(0);
    return {std::move(nothing), 0};
}

Event Trace::only(std::string_view name) const {
    EXPECT_EQ(count(name), 1u) << "events of " << name;
    return nth(name, 0);
}

Event Trace::last(std::string_view name) const {
    const std::size_t found = count(name);
    return nth(name, found > 0 ? found - 1 : 0);
}

}  // namespace dyetrace::test
