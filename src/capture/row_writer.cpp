#include "capture/row_writer.h"

#include <linux/bpf.h>

#include <algorithm>

namespace dyetrace::capture {
namespace {

using filter::Label;
using filter::Register;
using probes::ProbeValue;
using probes::ValueForm;
using probes::ValueStart;

constexpr Register kAt = Register::k8;  // along a value's pointers

}  // namespace

const Machine& machine() {
#if defined(__x86_64__)
    static const Machine kMachine{{112, 104, 96, 88, 72, 64}, 80, 152, 8};
#else
    static const Machine kMachine{{0, 8, 16, 24, 32, 40, 48, 56}, 0, 248, 0};
#endif
    return kMachine;
}

void RowWriter::set_null(std::size_t number) {
    code_.load_frame(Register::k1, kRowAt, 8);
    code_.calculate(BPF_OR, Register::k1, std::int32_t{1} << number);
    code_.store(Register::kFrame, kRowAt, Register::k1, 8);
}

// Puts the value of a column in the row.
void RowWriter::fill(const ProbeColumn& column, std::size_t number) {
    switch (column.source) {
        case RowSource::kValue:
            return fill_value(column.value, number);
        case RowSource::kPid:
            code_.call(BPF_FUNC_get_current_pid_tgid);
            code_.calculate(BPF_RSH, Register::k0, 32);
            break;
        case RowSource::kTid:
            code_.call(BPF_FUNC_get_current_pid_tgid);
            keep_low_half();
            break;
        case RowSource::kUid:
            code_.call(BPF_FUNC_get_current_uid_gid);
            keep_low_half();
            break;
        case RowSource::kGid:
            code_.call(BPF_FUNC_get_current_uid_gid);
            code_.calculate(BPF_RSH, Register::k0, 32);
            break;
        case RowSource::kComm:
            point_to(code_, Register::k1, place_of(number));
            code_.set(Register::k2, static_cast<std::int32_t>(filter::kCommBytes));
            code_.call(BPF_FUNC_get_current_comm);
            return;
        case RowSource::kCpu:
            code_.call(BPF_FUNC_get_smp_processor_id);
            break;
        case RowSource::kCgroup:
            code_.call(BPF_FUNC_get_current_cgroup_id);
            break;
        case RowSource::kDuration:
            code_.call(BPF_FUNC_ktime_get_ns);
            code_.load_frame(Register::k1, kRowAt - 8, 8);
            code_.calculate(BPF_SUB, Register::k0, Register::k1);
            break;
        case RowSource::kTime:
            code_.call(BPF_FUNC_ktime_get_boot_ns);
            break;
        case RowSource::kPlace:
            code_.set(Register::k1, kContext);
            code_.call(BPF_FUNC_get_attach_cookie);
            break;
        case RowSource::kThread:
            code_.call(BPF_FUNC_get_current_pid_tgid);
            break;
        case RowSource::kContext:
            code_.load_frame(Register::k0, kContextAt, 8);
            break;
        case RowSource::kStrangerValue: {
            const Label is_known = code_.new_label();
            code_.load_frame(Register::k0, kContextAt, 8);
            code_.jump_if(BPF_JNE, Register::k0, 0, is_known);
            fill_value(column.value, number);
            code_.place(is_known);
            return;
        }
        case RowSource::kKernelStack:
        case RowSource::kUserStack:
            return fill_stack(column.source == RowSource::kUserStack, number);
    }
    code_.store(Register::kFrame, place_of(number), Register::k0, 8);
}

void RowWriter::keep_low_half() {
    code_.calculate(BPF_LSH, Register::k0, 32);
    code_.calculate(BPF_RSH, Register::k0, 32);
}

// The stack's number, and whose addresses they are above it.
void RowWriter::fill_stack(bool of_user, std::size_t number) {
    const Label there = code_.new_label(), done = code_.new_label();
    code_.set(Register::k1, kContext);
    code_.set_map(Register::k2, stacks_);
    code_.set(Register::k3, of_user ? BPF_F_USER_STACK : 0);
    code_.call(BPF_FUNC_get_stackid);
    code_.jump_if(BPF_JSGE, Register::k0, 0, there);
    set_null(number);
    code_.jump(done);
    code_.place(there);
    code_.store(Register::kFrame, place_of(number), Register::k0, 8);
    if (of_user) {
        code_.call(BPF_FUNC_get_current_pid_tgid);
        code_.calculate(BPF_RSH, Register::k0, 32);
        code_.calculate(BPF_LSH, Register::k0, 32);
        code_.load_frame(Register::k1, place_of(number), 8);
        code_.calculate(BPF_OR, Register::k0, Register::k1);
        code_.store(Register::kFrame, place_of(number), Register::k0, 8);
    }
    code_.place(done);
}

void RowWriter::fill_value(const ProbeValue& value, std::size_t number) {
    const Label failed = code_.new_label(), done = code_.new_label();
    load_start(value, failed);
    std::int64_t last = 0;  // from kAt to what is read as it is
    for (std::size_t hop = 0; hop < value.hops.size(); ++hop) {
        const bool is_value = hop + 1 == value.hops.size() && value.form != ValueForm::kText;
        if (is_value && value.form != ValueForm::kInteger) {
            last = value.hops[hop];
            break;
        }
        read_memory(value, value.hops[hop], is_value ? value.bytes : 8, failed);
        code_.load_frame(kAt, kWordAt, 8);
    }
    if (value.form == ValueForm::kInteger) {
        narrow(value);
        code_.store(Register::kFrame, place_of(number), kAt, 8);
    } else {
        read_text(number, value, last, failed);
    }
    code_.jump(done);
    code_.place(failed);
    set_null(number);
    code_.place(done);
}

// Into kAt.
void RowWriter::load_start(const ProbeValue& value, Label failed) {
    switch (value.start) {
        case ValueStart::kArgument:
            code_.load(
                kAt, kContext, machine().arguments[static_cast<std::size_t>(value.number)], 8);
            return;
        case ValueStart::kResult:
            code_.load(kAt, kContext, machine().result, 8);
            return;
        case ValueStart::kRegister:
            code_.load(kAt, kContext, static_cast<std::size_t>(value.number), 8);
            return;
        case ValueStart::kConstant:
            code_.set_wide(kAt, static_cast<std::uint64_t>(value.number));
            return;
        case ValueStart::kTask:
            code_.call(BPF_FUNC_get_current_task);
            code_.set(kAt, Register::k0);
            return;
        case ValueStart::kContext:
            if (value.form == ValueForm::kInteger && value.hops.empty() &&
                value.number % value.bytes != 0) {
                // the verifier lets programs load only what is aligned
                code_.set(kAt, kContext);
                read_memory(value, value.number, value.bytes, failed);
                code_.load_frame(kAt, kWordAt, 8);
            } else if (value.form == ValueForm::kInteger && value.hops.empty()) {
                code_.load(kAt, kContext, static_cast<std::size_t>(value.number), value.bytes);
            } else if (value.form == ValueForm::kTextArray) {
                code_.set(kAt, kContext);
                code_.calculate(BPF_ADD, kAt, static_cast<std::int32_t>(value.number));
            } else if (value.form == ValueForm::kDataLocation) {
                code_.load(kAt, kContext, static_cast<std::size_t>(value.number), 4);
                code_.calculate(BPF_AND, kAt, 0xffff);
                code_.calculate(BPF_ADD, kAt, kContext);
            } else {
                code_.load(kAt, kContext, static_cast<std::size_t>(value.number), 8);
            }
    }
}

// So many bytes at kAt + offset, into the word.
void RowWriter::read_memory(const ProbeValue& value,
                            std::int64_t offset,
                            std::uint32_t bytes,
                            Label failed) {
    code_.set(Register::k1, 0);
    code_.store(Register::kFrame, kWordAt, Register::k1, 8);
    point_to(code_, Register::k1, kWordAt);
    code_.set(Register::k2, static_cast<std::int32_t>(bytes));
    code_.set(Register::k3, kAt);
    code_.calculate(BPF_ADD, Register::k3, static_cast<std::int32_t>(offset));
    code_.call(value.is_in_user_memory ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
    code_.jump_if(BPF_JNE, Register::k0, 0, failed);
}

void RowWriter::read_text(std::size_t number,
                          const ProbeValue& value,
                          std::int64_t offset,
                          Label failed) {
    const std::size_t room = layout_.fields()[number].field->bytes;
    const bool is_array = value.form == ValueForm::kTextArray;
    // an array that is full has no NUL: its row has one byte more
    const std::size_t bytes = is_array ? std::min<std::size_t>(room, value.bytes + 1) : room;
    point_to(code_, Register::k1, place_of(number));
    code_.set(Register::k2, static_cast<std::int32_t>(bytes));
    code_.set(Register::k3, kAt);
    code_.calculate(BPF_ADD, Register::k3, static_cast<std::int32_t>(offset));
    code_.call(value.is_in_user_memory ? BPF_FUNC_probe_read_user_str
                                       : BPF_FUNC_probe_read_kernel_str);
    code_.jump_if(BPF_JSLT, Register::k0, 0, failed);
}

// What is above the value in its register goes.
void RowWriter::narrow(const ProbeValue& value) {
    const std::uint32_t bits = value.bits > 0 ? value.bits : value.bytes * 8;
    const std::uint32_t above = 64 - bits - (value.bits > 0 ? value.bit_offset : 0);
    if (bits == 64) {
        return;
    }
    code_.calculate(BPF_LSH, kAt, static_cast<std::int32_t>(above));
    code_.calculate(
        value.is_signed ? BPF_ARSH : BPF_RSH, kAt, static_cast<std::int32_t>(64 - bits));
}

}  // namespace dyetrace::capture
