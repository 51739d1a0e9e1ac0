#include "filter/bpf_columns.h"

#include <arpa/inet.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <utility>

#include "filter/string_atoms.h"
#include "schema/dictionary.h"
#include "schema/record.h"
#include "schema/shared/filter_input.h"
#include "schema/syscalls.h"
#include "schema/text.h"

namespace dyetrace::filter {
namespace {

using schema::EventColumn;
using schema::SyscallEvent;

// A number that lies in the event, in so many bytes; NULL unless its bit of `present` is set.
struct EventField {
    EventColumn column;
    std::size_t offset;
    unsigned bytes;
    std::uint32_t present;
};

constexpr std::array<EventField, 11> kEventFields{{
    {EventColumn::kStartNs, offsetof(SyscallEvent, start_ns), 8, 0},
    {EventColumn::kDurationNs, offsetof(SyscallEvent, duration_ns), 8, SyscallEvent::kHasDuration},
    {EventColumn::kResult, offsetof(SyscallEvent, result), 8, SyscallEvent::kHasResult},
    {EventColumn::kFd, offsetof(SyscallEvent, fd), 4, SyscallEvent::kHasFd},
    {EventColumn::kFileOffset,
     offsetof(SyscallEvent, file_offset),
     8,
     SyscallEvent::kHasFileOffset},
    {EventColumn::kFileOffset2,
     offsetof(SyscallEvent, file_offset2),
     8,
     SyscallEvent::kHasFileOffset2},
    {EventColumn::kObjectSize,
     offsetof(SyscallEvent, object_size),
     8,
     SyscallEvent::kHasObjectSize},
    {EventColumn::kRequested, offsetof(SyscallEvent, requested), 8, SyscallEvent::kHasRequested},
    {EventColumn::kBytes, offsetof(SyscallEvent, bytes), 8, SyscallEvent::kHasBytes},
    {EventColumn::kStreamOffset,
     offsetof(SyscallEvent, stream_offset),
     8,
     SyscallEvent::kHasStreamOffset},
    {EventColumn::kOnCpuNs, offsetof(SyscallEvent, duration_ns), 8, SyscallEvent::kHasDuration},
}};

struct TaskField {
    EventColumn column;
    std::size_t offset;
    unsigned bytes;
};

constexpr std::array<TaskField, 7> kTaskFields{{
    {EventColumn::kPid, offsetof(filter_input, task.pid), 4},
    {EventColumn::kTid, offsetof(filter_input, task.tid), 4},
    {EventColumn::kPpid, offsetof(filter_input, task.ppid), 4},
    {EventColumn::kPidInNamespace, offsetof(filter_input, task.pid_in_namespace), 4},
    {EventColumn::kUid, offsetof(filter_input, task.uid), 4},
    {EventColumn::kNetworkNamespace, offsetof(filter_input, task.network_namespace), 4},
    {EventColumn::kCgroupId, offsetof(filter_input, task.cgroup_id), 8},
}};

}  // namespace

bool BpfColumns::load(EventColumn column, Register to, Exits exits) {
    return load_event_field(column, to, exits) || load_task_field(column, to, exits) ||
           load_object_field(column, to, exits) || load_calculated(column, to, exits);
}

void BpfColumns::need_present(std::uint32_t bits, Label otherwise) {
    code_.load(kScratch, kEvent, offsetof(SyscallEvent, present), 4);
    code_.calculate(BPF_AND, kScratch, static_cast<std::int32_t>(bits));
    code_.jump_if(BPF_JEQ, kScratch, 0, otherwise);
}

void BpfColumns::need_absent(std::uint32_t bits, Label otherwise) {
    code_.load(kScratch, kEvent, offsetof(SyscallEvent, present), 4);
    code_.calculate(BPF_AND, kScratch, static_cast<std::int32_t>(bits));
    code_.jump_if(BPF_JNE, kScratch, 0, otherwise);
}

void BpfColumns::need_known(std::uint32_t bits, Label otherwise) {
    code_.load(kScratch, kInput, offsetof(filter_input, known), 4);
    code_.calculate(BPF_AND, kScratch, static_cast<std::int32_t>(bits));
    code_.jump_if(BPF_JEQ, kScratch, 0, otherwise);
}

// NULL without a handle or where it is only the base of a name (base_bit may be 0).
void BpfColumns::need_object(std::uint32_t handle_bit,
                             std::uint32_t base_bit,
                             std::uint32_t known_bit,
                             Exits exits) {
    need_present(handle_bit, exits.null);
    if (base_bit != 0) {
        need_absent(base_bit, exits.null);
    }
    need_known(known_bit, exits.undecided);
}

// NULL without any handle; what either of them is has to be known.
void BpfColumns::need_ends(Exits exits) {
    need_present(SyscallEvent::kHasHandle | SyscallEvent::kHasHandle2, exits.null);
    for (const auto& [handle_bit, known_bit] :
         {std::pair(SyscallEvent::kHasHandle, FILTER_KNOWS_OBJECT),
          std::pair(SyscallEvent::kHasHandle2, FILTER_KNOWS_OBJECT2)}) {
        const Label next = code_.new_label();
        need_present(handle_bit, next);
        need_known(known_bit, exits.undecided);
        code_.place(next);
    }
}

bool BpfColumns::load_event_field(EventColumn column, Register to, Exits exits) {
    for (const EventField& field : kEventFields) {
        if (field.column != column) {
            continue;
        }
        if (field.present != 0) {
            need_present(field.present, exits.null);
        }
        code_.load(to, kEvent, field.offset, field.bytes);
        if (column == EventColumn::kFd) {  // the sign of 32 bits
            code_.calculate(BPF_LSH, to, 32);
            code_.calculate(BPF_ARSH, to, 32);
        }
        if (column == EventColumn::kRequested) {  // what is beyond the signed numbers is their last
            const Label fits = code_.new_label();
            code_.jump_if(BPF_JSGE, to, 0, fits);
            code_.set_wide(to, schema::kIdMax);
            code_.place(fits);
        }
        if (column == EventColumn::kOnCpuNs) {
            code_.load(kScratch, kEvent, offsetof(SyscallEvent, off_cpu_ns), 8);
            code_.calculate(BPF_SUB, to, kScratch);
        }
        return true;
    }
    return false;
}

bool BpfColumns::load_task_field(EventColumn column, Register to, Exits exits) {
    for (const TaskField& field : kTaskFields) {
        if (field.column == column) {
            need_known(FILTER_KNOWS_TASK, exits.undecided);
            code_.load(to, kInput, field.offset, field.bytes);
            return true;
        }
    }
    if (column != EventColumn::kProcessId && column != EventColumn::kThreadId) {
        return false;
    }
    need_known(FILTER_KNOWS_TASK, exits.undecided);
    if (column == EventColumn::kProcessId) {
        load_task_id(to,
                     kInput,
                     offsetof(filter_input, task.process_start_ns),
                     offsetof(filter_input, task.pid));
    } else {
        load_task_id(to,
                     kInput,
                     offsetof(filter_input, task.thread_start_ns),
                     offsetof(filter_input, task.tid));
    }
    return true;
}

// schema::task_id(host, start, pid).
void BpfColumns::load_task_id(Register to,
                              Register base,
                              std::size_t start_offset,
                              std::size_t pid_offset) {
    code_.load(to, base, start_offset, 8);
    code_.calculate(BPF_RSH, to, 26);
    code_.calculate(BPF_LSH, to, 32);
    code_.calculate(BPF_RSH, to, 10);  // 32 bits at bit 22
    code_.load(kScratch, base, pid_offset, 4);
    code_.calculate(BPF_OR, to, kScratch);
    code_.set_wide(kScratch, std::uint64_t{host_index_} << 54);
    code_.calculate(BPF_OR, to, kScratch);
}

bool BpfColumns::load_object_field(EventColumn column, Register to, Exits exits) {
    const bool second = column == EventColumn::kObject2Id;
    switch (column) {
        case EventColumn::kObjectId:
        case EventColumn::kObject2Id:
            need_object(second ? SyscallEvent::kHasHandle2 : SyscallEvent::kHasHandle,
                        second ? SyscallEvent::kHasNamesBase2 : SyscallEvent::kHasNamesBase,
                        second ? FILTER_KNOWS_OBJECT2 : FILTER_KNOWS_OBJECT,
                        exits);
            code_.load(to,
                       kInput,
                       second ? offsetof(filter_input, object2_id)
                              : offsetof(filter_input, object.object_id),
                       4);
            code_.set_wide(kScratch, std::uint64_t{host_index_} << 54);
            code_.calculate(BPF_OR, to, kScratch);
            return true;
        case EventColumn::kConnectionId:
            need_ends(exits);
            code_.load(to, kInput, offsetof(filter_input, object.ends.connection_id), 8);
            code_.jump_if(BPF_JEQ, to, 0, exits.undecided);  // it may become known
            code_.calculate(BPF_LSH, to, 1);                 // 63 bits are shown
            code_.calculate(BPF_RSH, to, 1);
            return true;
        case EventColumn::kLocalPort:
        case EventColumn::kRemotePort:
            load_port(column, to, exits);
            return true;
        default:
            return false;
    }
}

// Falls through for an end of the socket; the one that the call names is in address_family, address_port and address.
void BpfColumns::find_end(bool local, Exits exits, Label of_message) {
    const Label of_socket = code_.new_label();
    if (local) {
        need_present(SyscallEvent::kHasNamesOwnEnd, of_socket);
    } else {
        need_absent(SyscallEvent::kHasNamesOwnEnd, of_socket);
    }
    need_known(FILTER_HAS_ADDRESS, of_socket);
    need_known(FILTER_KNOWS_ADDRESS, exits.undecided);
    code_.jump(of_message);
    code_.place(of_socket);
    need_ends(exits);
}

void BpfColumns::load_port(EventColumn column, Register to, Exits exits) {
    const bool local = column == EventColumn::kLocalPort;
    const Label of_message = code_.new_label();
    const Label done = code_.new_label();
    find_end(local, exits, of_message);
    code_.load(to,
               kInput,
               local ? offsetof(filter_input, object.ends.local_port)
                     : offsetof(filter_input, object.ends.remote_port),
               2);
    code_.jump_if(BPF_JEQ, to, 0, exits.null);
    code_.jump(done);
    code_.place(of_message);
    code_.load(to, kInput, offsetof(filter_input, address_port), 2);
    code_.place(done);
}

bool BpfColumns::load_calculated(EventColumn column, Register to, Exits exits) {
    switch (column) {
        case EventColumn::kCpu:
            code_.load(to, kInput, offsetof(filter_input, cpu), 4);
            return true;
        case EventColumn::kOffsetCertain:
            need_present(SyscallEvent::kHasFileOffset, exits.null);
            code_.load(to, kEvent, offsetof(SyscallEvent, present), 4);
            code_.calculate(BPF_RSH, to, __builtin_ctz(SyscallEvent::kHasOffsetCertain));
            code_.calculate(BPF_AND, to, 1);
            return true;
        case EventColumn::kTargetProcessId:
            need_present(SyscallEvent::kHasTarget, exits.null);
            code_.load(to, kEvent, offsetof(SyscallEvent, target_start_ns), 8);
            code_.jump_if(BPF_JEQ, to, 0, exits.null);
            load_task_id(to,
                         kEvent,
                         offsetof(SyscallEvent, target_start_ns),
                         offsetof(SyscallEvent, target_tid));
            return true;
        default:
            return false;
    }
}

// abi << 16 | number
void BpfColumns::load_call(Register to, Register scratch) {
    code_.load(to, kEvent, offsetof(SyscallEvent, abi), 1);
    code_.calculate(BPF_LSH, to, 16);
    code_.load(scratch, kEvent, offsetof(SyscallEvent, syscall), 2);
    code_.calculate(BPF_OR, to, scratch);
}

void BpfColumns::leave_out_restored(Label null) {
    load_call(kScratch, kScratch2);
    for (const schema::SyscallInfo& call : schema::syscalls()) {
        if (schema::restores_result(call.abi, call.number)) {
            code_.jump_if(BPF_JEQ, kScratch, static_cast<int>(call.abi) << 16 | call.number, null);
        }
    }
}

bool BpfColumns::load_named(const Expression& leaf, Register to, Exits exits) {
    switch (leaf.column) {
        case EventColumn::kClass:
            code_.load(to, kEvent, offsetof(SyscallEvent, event_class), 1);
            return true;
        case EventColumn::kAbi:
            code_.load(to, kEvent, offsetof(SyscallEvent, abi), 1);
            return true;
        case EventColumn::kState:
            code_.load(to, kEvent, offsetof(SyscallEvent, state), 1);
            return true;
        case EventColumn::kObjectType:
            need_object(
                SyscallEvent::kHasHandle, SyscallEvent::kHasNamesBase, FILTER_KNOWS_OBJECT, exits);
            code_.load(to, kInput, offsetof(filter_input, object.object_type), 2);
            return true;
        case EventColumn::kError:
            need_present(SyscallEvent::kHasResult, exits.null);
            code_.load(to, kEvent, offsetof(SyscallEvent, result), 8);
            code_.jump_if(BPF_JSGT, to, -1, exits.null);
            code_.jump_if(BPF_JSLT, to, -kErrorMax, exits.null);
            leave_out_restored(exits.null);
            code_.negate(to);
            return true;
        case EventColumn::kName:
            load_call(to, kScratch);
            return true;
        default:
            return false;
    }
}

void BpfColumns::compare_16(
    std::size_t offset, const std::uint8_t* bytes, std::size_t size, Label same, Label different) {
    for (std::size_t at = 0; at < size; at += 8) {
        const std::size_t step = size - at < 8 ? 4 : 8;
        std::uint64_t word = 0;
        std::memcpy(&word, bytes + at, step);
        code_.load(kScratch, kInput, offset + at, static_cast<unsigned>(step));
        code_.set_wide(kScratch2, word);
        code_.jump_if(BPF_JNE, kScratch, kScratch2, different);
    }
    code_.jump(same);
}

// Where the 16 bytes of a name lie in the filter_input, where they are known; nothing: the column has none.
std::optional<std::size_t> BpfColumns::find_name(EventColumn column, Exits exits) {
    if (column == EventColumn::kComm) {
        need_known(FILTER_KNOWS_TASK, exits.undecided);
        return offsetof(filter_input, task.comm);
    }
    if (column == EventColumn::kFileSystem) {
        need_object(SyscallEvent::kHasHandle, 0, FILTER_KNOWS_OBJECT, exits);
        return offsetof(filter_input, object.file_system);
    }
    return std::nullopt;
}

std::size_t BpfColumns::text_bytes(const Expression& leaf) const {
    return leaf.column == EventColumn::kComm || leaf.column == EventColumn::kFileSystem ? 16 : 0;
}

bool BpfColumns::copy_text(const Expression& leaf, std::ptrdiff_t frame_offset, Exits exits) {
    const auto offset = find_name(leaf.column, exits);
    if (!offset) {
        return false;
    }
    for (const std::size_t at : {std::size_t{0}, std::size_t{8}}) {
        code_.load(kScratch, kInput, *offset + at, 8);
        code_.store(Register::kFrame, frame_offset + static_cast<std::ptrdiff_t>(at), kScratch, 8);
    }
    return true;
}

bool BpfColumns::compare_text(
    const Expression& leaf, std::string_view text, Label same, Label different, Exits exits) {
    const EventColumn column = leaf.column;
    if (column == EventColumn::kLocalAddress || column == EventColumn::kRemoteAddress) {
        return compare_address(column, text, same, different, exits);
    }
    const auto offset = find_name(column, exits);
    if (!offset) {
        return false;
    }
    std::array<std::uint8_t, 16> bytes{};
    const auto shown = bytes_shown_as(text);
    const bool possible =
        shown && shown->size() <= bytes.size() && shown->find('\0') == std::string::npos;
    if (!possible) {
        code_.jump(different);
        return true;
    }
    std::memcpy(bytes.data(), shown->data(), shown->size());
    compare_16(*offset, bytes.data(), bytes.size(), same, different);
    return true;
}

bool BpfColumns::compare_address(
    EventColumn column, std::string_view text, Label same, Label different, Exits exits) {
    std::array<std::uint8_t, 16> bytes{};
    const int family = text.find(':') == std::string_view::npos ? AF_INET : AF_INET6;
    const bool is_address =
        inet_pton(family, std::string(text).c_str(), bytes.data()) == 1 &&
        schema::ip_text(static_cast<std::uint16_t>(family), bytes.data()) == text;
    if (!is_address) {
        return false;  // may be the path of a unix socket
    }
    const std::size_t size = family == AF_INET ? 4 : 16;
    const Label of_message = code_.new_label();
    const bool local = column == EventColumn::kLocalAddress;
    find_end(local, exits, of_message);
    const Label ip = code_.new_label();
    code_.load(Register::k1, kInput, offsetof(filter_input, object.ends.family), 2);
    code_.jump_if(BPF_JEQ, Register::k1, AF_INET, ip);
    code_.jump_if(BPF_JEQ, Register::k1, AF_UNIX, exits.undecided);  // it may have a name
    code_.jump_if(BPF_JNE, Register::k1, AF_INET6, exits.null);
    code_.place(ip);
    code_.jump_if(BPF_JNE, Register::k1, family, different);
    compare_16(local ? offsetof(filter_input, object.ends.local_address)
                     : offsetof(filter_input, object.ends.remote_address),
               bytes.data(),
               size,
               same,
               different);
    code_.place(of_message);
    code_.load(Register::k1, kInput, offsetof(filter_input, address_family), 2);
    code_.jump_if(BPF_JNE, Register::k1, family, different);
    compare_16(offsetof(filter_input, address), bytes.data(), size, same, different);
    return true;
}

void BpfColumns::verdict(
    const Expression& leaf, unsigned number, Label matches, Label differs, Exits exits) {
    const EventColumn column = leaf.column;
    const auto decide = [&](std::size_t offset) {
        for (const bool known : {true, false}) {
            code_.load(kScratch,
                       kInput,
                       offset + (known ? offsetof(filter_verdicts, is_known)
                                       : offsetof(filter_verdicts, is_true)),
                       8);
            code_.calculate(BPF_RSH, kScratch, static_cast<std::int32_t>(number));
            code_.calculate(BPF_AND, kScratch, 1);
            code_.jump_if(BPF_JEQ, kScratch, 0, known ? exits.undecided : differs);
        }
        code_.jump(matches);
    };
    if (column == EventColumn::kExe || column == EventColumn::kComm) {
        return decide(offsetof(filter_input, task.atoms));
    }
    const bool second = column == EventColumn::kPath2;
    if (column != EventColumn::kArgumentPath) {
        const Label given = code_.new_label();
        need_absent(second ? SyscallEvent::kHasNamesBase2 : SyscallEvent::kHasNamesBase,
                    exits.undecided);
        need_present(second ? SyscallEvent::kHasHandle2 : SyscallEvent::kHasHandle, given);
        decide(second ? offsetof(filter_input, object2_atoms)
                      : offsetof(filter_input, object.atoms));
        code_.place(given);
    }
    need_known(second ? FILTER_HAS_PATH2 : FILTER_HAS_PATH, exits.null);
    decide(second ? offsetof(filter_input, path2_atoms) : offsetof(filter_input, path_atoms));
}

}  // namespace dyetrace::filter
