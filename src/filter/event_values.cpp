#include "filter/event_values.h"

#include <algorithm>

#include "base/check.h"
#include "schema/errors.h"
#include "schema/flags.h"
#include "schema/generated/enum_names.h"
#include "schema/syscalls.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

using schema::Attachment;
using schema::EventColumn;
using schema::PartEvent;
using schema::SyscallEvent;

Value name_or_null(std::string_view name) {
    return name.empty() ? Value{} : Value::of(name);
}

Value number_if(bool present, Integer number) {
    return present ? Value::of(number) : Value{};
}

// 64 bits that the view shows as a signed number.
Integer signed_bits(std::uint64_t bits) {
    return static_cast<std::int64_t>(bits);
}

Integer capped(std::uint64_t number) {
    return std::min<std::uint64_t>(number, schema::kIdMax);
}

Value syscall_name(std::uint8_t abi, std::uint16_t number) {
    const auto* call = schema::find_syscall(static_cast<schema::Abi>(abi), number);
    return call != nullptr ? Value::of(call->name) : Value{};
}

std::uint16_t number_of(const SyscallEvent& e) {
    return e.syscall;
}
std::uint16_t number_of(const PartEvent& e) {
    return e.operation;
}

Value object_id(const schema::Object* object) {
    return object != nullptr ? Value::of(Integer{object->object_id}) : Value{};
}

Value object_type(const schema::Object* object) {
    return object != nullptr ? name_or_null(schema::object_type_name(
                                   static_cast<std::uint8_t>(object->object_type)))
                             : Value{};
}

// What the content of its bytes says.
Value content_value(const SyscallEvent& e, EventColumn column) {
    const auto content = schema::content_of(e);
    const auto dyes = schema::dyes_found_in(e);
    const bool is_whole = content && content->unread_bytes == 0;
    switch (column) {
        case EventColumn::kFingerprint:
            return number_if(is_whole, is_whole ? signed_bits(content->fingerprint) : 0);
        case EventColumn::kUnreadBytes:
            return number_if(content || dyes,
                             content ? content->unread_bytes
                             : dyes  ? dyes->unread_bytes
                                     : 0);
        case EventColumn::kContentSum: {
            const bool has_sum = is_whole && content->has_sum;
            return number_if(has_sum, has_sum ? signed_bits(content->sum) : 0);
        }
        case EventColumn::kDistinctBytes: {
            const bool is_known = content && content->distinct_bytes > 0;
            return number_if(is_known, is_known ? content->distinct_bytes : 0);
        }
        case EventColumn::kAnchorsDropped:
            return number_if(content.has_value(), content ? content->anchors_dropped : 0);
        default:  // kDyeHits
            return number_if(dyes && dyes->hits > 0, dyes ? dyes->hits : 0);
    }
}

}  // namespace

TextBuffers::TextBuffers() : buffers_(schema::event_columns().size()) {}

std::string_view TextBuffers::escaped(EventColumn column, std::string_view bytes) {
    if (needs_no_escape(bytes)) {
        return bytes;
    }
    std::string& out = buffer(column);
    out.clear();
    schema::append_escaped(out, bytes);
    return out;
}

std::string_view TextBuffers::kept(EventColumn column, std::string_view text) {
    std::string& out = buffer(column);
    out.assign(text);  // into the same place: `path = path` borrows it twice
    return out;
}

bool needs_no_escape(std::string_view bytes) {
    return std::all_of(bytes.begin(), bytes.end(), [](char c) {
        return c > '\0' && c != '\\' && static_cast<unsigned char>(c) < 0x80;
    });
}

std::string plain_path(std::string_view path) {
    std::vector<std::string_view> parts;
    bool plain = true;
    for (std::size_t at = 0; at <= path.size();) {
        const std::size_t end = std::min(path.find('/', at), path.size());
        const std::string_view part = path.substr(at, end - at);
        at = end + 1;
        if (!part.empty() && part != "." && part != "..") {
            parts.push_back(part);
            continue;
        }
        plain = false;
        if (part == ".." && !parts.empty()) {
            parts.pop_back();
        }
    }
    if (plain) {
        return std::string(path);
    }
    std::string out;
    for (const std::string_view part : parts) {
        out += '/';
        out += part;
    }
    return out.empty() ? "/" : out;
}

bool EventValues::set(schema::RecordBytes record,
                      std::uint16_t cpu,
                      const schema::Dictionary& dictionary) {
    record_ = record;
    cpu_ = cpu;
    host_index_ = dictionary.host_index();
    task_ = nullptr;
    object_ = nullptr;
    object2_ = nullptr;
    ends_ = nullptr;
    if (record.size() < sizeof(schema::RecordHeader)) {
        return false;
    }
    syscall_ = schema::as<SyscallEvent>(record);
    part_ = schema::as<PartEvent>(record);
    log_ = schema::as<schema::LogEvent>(record);
    signal_ = schema::as<schema::SignalEvent>(record);
    if (syscall_ != nullptr) {
        task_ = dictionary.task(syscall_->context_id);
        if ((syscall_->present & SyscallEvent::kHasHandle) != 0) {
            object_ = dictionary.object(syscall_->handle_id);
        }
        if ((syscall_->present & SyscallEvent::kHasHandle2) != 0) {
            object2_ = dictionary.object(syscall_->handle2_id);
        }
    } else if (part_ != nullptr) {
        task_ = dictionary.task(part_->context_id);
        if ((part_->present & PartEvent::kHasHandle) != 0) {
            object_ = dictionary.object(part_->handle_id);
        }
    } else if (log_ != nullptr) {
        task_ = dictionary.task(log_->context_id);
    } else if (signal_ != nullptr) {
        task_ = dictionary.task(signal_->context_id);
    } else {
        return false;
    }
    for (const schema::Object* object : {object_, object2_}) {
        if (ends_ == nullptr && object != nullptr && object->socket) {
            ends_ = &*object->socket;
        }
    }
    return true;
}

Value EventValues::of(EventColumn column) const {
    using schema::Task;
    switch (column) {
        case EventColumn::kEventId:
            return Value::of(
                Integer{schema::event_id(host_index_, cpu_, schema::header_of(record_).sequence)});
        case EventColumn::kHost:
            return Value::of(host_);
        case EventColumn::kCpu:
            return Value::of(Integer{cpu_});
        case EventColumn::kWeight:
            return Value::of(Integer{1});
        case EventColumn::kProcessId:
            return of_task(&Task::process_id);
        case EventColumn::kThreadId:
            return of_task(&Task::thread_id);
        case EventColumn::kPid:
            return of_task(&Task::pid);
        case EventColumn::kTid:
            return of_task(&Task::tid);
        case EventColumn::kPpid:
            return of_task(&Task::ppid);
        case EventColumn::kPidInNamespace:
            return of_task(&Task::pid_in_namespace);
        case EventColumn::kUid:
            return of_task(&Task::uid);
        case EventColumn::kCgroupId:
            return task_ != nullptr ? Value::of(signed_bits(task_->cgroup_id)) : Value{};
        case EventColumn::kNetworkNamespace:
            return of_task(&Task::network_namespace);
        case EventColumn::kComm:
        case EventColumn::kExe:
        case EventColumn::kContainer:
            return task_ != nullptr ? text_of_task(column) : Value{};
        case EventColumn::kFileSystem:
            return object_ != nullptr ? Value::of(buffers_.escaped(column, object_->file_system))
                                      : Value{};
        case EventColumn::kConnectionId: {
            const bool known = ends_ != nullptr && ends_->connection_id != 0;
            return number_if(known, known ? ends_->connection_id & schema::kIdMax : 0);
        }
        default:
            break;
    }
    if (syscall_ != nullptr) {
        return of_operation(*syscall_, column);
    }
    if (part_ != nullptr) {
        return of_operation(*part_, column);
    }
    return log_ != nullptr ? of_log(column) : of_signal(column);
}

bool EventValues::path_is_of_handle(EventColumn column) const {
    if (part_ != nullptr) {
        return column == EventColumn::kPath && object_ != nullptr;
    }
    if (syscall_ == nullptr) {
        return false;
    }
    if (column == EventColumn::kPath) {
        return object_ != nullptr && (syscall_->present & SyscallEvent::kHasNamesBase) == 0;
    }
    return column == EventColumn::kPath2 && object2_ != nullptr &&
           (syscall_->present & SyscallEvent::kHasNamesBase2) == 0;
}

template <class Number>
Value EventValues::of_task(Number schema::Task::*member) const {
    return task_ != nullptr ? Value::of(Integer{task_->*member}) : Value{};
}

Value EventValues::text_of_task(EventColumn column) const {
    if (column == EventColumn::kComm) {
        return Value::of(buffers_.escaped(column, task_->comm));
    }
    const bool is_exe = column == EventColumn::kExe;
    const std::optional<std::string>& text = is_exe ? task_->exe : task_->cgroup;
    if (!text) {
        return {};
    }
    const std::string_view escaped = buffers_.escaped(column, *text);
    return is_exe ? Value::of(escaped) : name_or_null(schema::container_of(escaped));
}

// A unix socket has its name for an address.
Value EventValues::socket_address(EventColumn column, const schema::SocketEnds& ends) const {
    const bool local = column == EventColumn::kLocalAddress;
    const auto& unix_name = local ? ends.unix_path : ends.unix_peer_path;
    if (unix_name) {
        return Value::of(buffers_.escaped(column, *unix_name));
    }
    return name_or_null(local ? ends.local_address : ends.remote_address);
}

// An address or a port of either end: of the call where it names this end, else of the socket.
Value EventValues::end(EventColumn column) const {
    const bool local = column == EventColumn::kLocalAddress || column == EventColumn::kLocalPort;
    const bool names_own =
        syscall_ != nullptr && (syscall_->present & SyscallEvent::kHasNamesOwnEnd) != 0;
    const auto bytes = syscall_ != nullptr ? schema::attachment(*syscall_, Attachment::kAddress)
                                           : schema::attachment(*part_, Attachment::kAddress);
    const auto address =
        bytes && names_own == local ? schema::parse_socket_address(*bytes) : std::nullopt;
    if (column == EventColumn::kLocalAddress || column == EventColumn::kRemoteAddress) {
        if (address) {
            return Value::of(buffers_.kept(column, address->address));
        }
        return ends_ != nullptr ? socket_address(column, *ends_) : Value{};
    }
    if (address) {
        return number_if(address->has_port, address->port);
    }
    const std::uint16_t port = ends_ == nullptr ? 0
                               : local          ? ends_->local_port
                                                : ends_->remote_port;
    return number_if(port != 0, port);
}

Value EventValues::error(bool has_result, std::int64_t result) const {
    if (!has_result || result >= 0 || result < -4095) {
        return {};
    }
    return Value::of(buffers_.kept(EventColumn::kError, schema::error_name(result)));
}

Value EventValues::open_flags(bool present, std::uint32_t flags) const {
    static const schema::FlagSet* const kSet = schema::find_flag_set("open_flags");
    if (!present) {
        return {};
    }
    std::string& out = buffers_.buffer(EventColumn::kOpenFlags);
    out.clear();
    schema::append_flags(out, *kSet, flags);
    return Value::of(std::string_view(out));
}

// The JSON text of a call's other scalars.
Value EventValues::call_arguments() const {
    const auto* call =
        schema::find_syscall(static_cast<schema::Abi>(syscall_->abi), syscall_->syscall);
    if (call == nullptr) {
        return {};
    }
    std::string& out = buffers_.buffer(EventColumn::kArguments);
    out.clear();
    schema::append_arguments_json(out, *call, *syscall_);
    return Value::of(std::string_view(out));
}

Value EventValues::joined(EventColumn column, std::string_view base, std::string_view name) const {
    std::string whole(base);
    if (!name.empty()) {
        whole += base == "/" ? "" : "/";
        whole += name;
    }
    return Value::of(buffers_.kept(column, plain_path(whole)));
}

Value EventValues::path(EventColumn column,
                        bool has_handle,
                        bool names_base,
                        const schema::Object* object,
                        Attachment kind) const {
    const std::string* of_handle = object != nullptr ? object->name() : nullptr;
    if (has_handle && !names_base) {
        return of_handle != nullptr ? Value::of(buffers_.escaped(column, *of_handle)) : Value{};
    }
    const auto given = schema::attachment(*syscall_, kind);
    if (!given || (names_base && of_handle == nullptr)) {
        return {};
    }
    if (!names_base) {
        return Value::of(buffers_.escaped(column, *given));
    }
    if (needs_no_escape(*of_handle) && needs_no_escape(*given)) {
        return joined(column, *of_handle, *given);
    }
    return joined(column, schema::escaped(*of_handle), schema::escaped(*given));
}

// What a call and a part of one have alike.
template <class Event>
Value EventValues::of_operation(const Event& e, EventColumn column) const {
    const auto has = [&e](auto bit) { return (e.present & bit) != 0; };
    switch (column) {
        case EventColumn::kStartNs:
            return Value::of(Integer{e.start_ns});
        case EventColumn::kDurationNs:
            return number_if(has(Event::kHasDuration), e.duration_ns);
        case EventColumn::kKind:
            return Value::of(schema::kind_name(static_cast<std::uint8_t>(schema::Kind::kSyscall)));
        case EventColumn::kName:
            return syscall_name(e.abi, number_of(e));
        case EventColumn::kClass:
            return name_or_null(schema::class_name(e.event_class));
        case EventColumn::kAbi:
            return name_or_null(schema::abi_name(e.abi));
        case EventColumn::kResult:
            return number_if(has(Event::kHasResult), e.result);
        case EventColumn::kError:
            return e.result < 0 &&
                           schema::restores_result(static_cast<schema::Abi>(e.abi), number_of(e))
                       ? Value{}
                       : error(has(Event::kHasResult), e.result);
        case EventColumn::kFd:
            return number_if(has(Event::kHasFd), e.fd);
        case EventColumn::kOpenFlags:
            return open_flags(has(Event::kHasOpenFlags), e.open_flags);
        case EventColumn::kFileOffset:
            return number_if(has(Event::kHasFileOffset), e.file_offset);
        case EventColumn::kOffsetCertain:
            return has(Event::kHasFileOffset) ? Value::of(has(Event::kHasOffsetCertain)) : Value{};
        case EventColumn::kRequested:
            return number_if(has(Event::kHasRequested), capped(e.requested));
        case EventColumn::kBytes:
            return number_if(has(Event::kHasBytes), e.bytes);
        case EventColumn::kStreamOffset:
            return number_if(has(Event::kHasStreamOffset), e.stream_offset);
        case EventColumn::kTransfer: {
            const auto transfer = schema::transfer_of(e);
            return transfer ? Value::of(schema::transfer_name(static_cast<std::uint8_t>(*transfer)))
                            : Value{};
        }
        case EventColumn::kLocalAddress:
        case EventColumn::kLocalPort:
        case EventColumn::kRemoteAddress:
        case EventColumn::kRemotePort:
            return end(column);
        default:
            return of_only(e, column);
    }
}

Value EventValues::of_only(const SyscallEvent& e, EventColumn column) const {
    const auto has = [&e](auto bit) { return (e.present & bit) != 0; };
    const bool names_base = has(SyscallEvent::kHasNamesBase);
    const bool names_base2 = has(SyscallEvent::kHasNamesBase2);
    switch (column) {
        case EventColumn::kOnCpuNs:
            return number_if(has(SyscallEvent::kHasDuration),
                             Integer{e.duration_ns} - e.off_cpu_ns);
        case EventColumn::kState:
            return name_or_null(schema::state_name(e.state));
        case EventColumn::kArguments:
            return call_arguments();
        case EventColumn::kFileOffset2:
            return number_if(has(SyscallEvent::kHasFileOffset2), e.file_offset2);
        case EventColumn::kOffset2Certain:
            return has(SyscallEvent::kHasFileOffset2)
                       ? Value::of(has(SyscallEvent::kHasOffset2Certain))
                       : Value{};
        case EventColumn::kObjectSize:
            return number_if(has(SyscallEvent::kHasObjectSize), e.object_size);
        case EventColumn::kObjectId:
            return object_id(names_base ? nullptr : object_);
        case EventColumn::kObject2Id:
            return object_id(names_base2 ? nullptr : object2_);
        case EventColumn::kObjectType:
            return object_type(names_base ? nullptr : object_);
        case EventColumn::kPath:
            return path(
                column, has(SyscallEvent::kHasHandle), names_base, object_, Attachment::kPath);
        case EventColumn::kPath2:
            return path(
                column, has(SyscallEvent::kHasHandle2), names_base2, object2_, Attachment::kPath2);
        case EventColumn::kArgumentPath: {
            const auto given = schema::attachment(e, Attachment::kPath);
            return given ? Value::of(buffers_.escaped(column, *given)) : Value{};
        }
        case EventColumn::kFingerprint:
        case EventColumn::kUnreadBytes:
        case EventColumn::kContentSum:
        case EventColumn::kDistinctBytes:
        case EventColumn::kAnchorsDropped:
        case EventColumn::kDyeHits:
            return content_value(e, column);
        case EventColumn::kTargetProcessId: {
            const bool known = has(SyscallEvent::kHasTarget) && e.target_start_ns > 0;
            return number_if(known, schema::task_id(host_index_, e.target_start_ns, e.target_tid));
        }
        default:
            return {};
    }
}

Value EventValues::of_only(const PartEvent& e, EventColumn column) const {
    switch (column) {
        case EventColumn::kState:
            return Value::of(schema::state_name((e.present & PartEvent::kHasResult) != 0 ? 0 : 1));
        case EventColumn::kParentEventId:
            return Value::of(Integer{schema::event_id(host_index_, cpu_, e.parent_sequence)});
        case EventColumn::kPart:
            return Value::of(Integer{e.part});
        case EventColumn::kObjectId:
            return object_id(object_);
        case EventColumn::kObjectType:
            return object_type(object_);
        case EventColumn::kPath: {
            const std::string* name = object_ != nullptr ? object_->name() : nullptr;
            return name != nullptr ? Value::of(buffers_.escaped(column, *name)) : Value{};
        }
        default:
            return {};
    }
}

}  // namespace dyetrace::filter
