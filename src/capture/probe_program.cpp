#include "capture/probe_program.h"

#include <linux/perf_event.h>

#include <algorithm>
#include <utility>

#include "filter/assembler.h"
#include "kernel/abi.h"

namespace dyetrace::capture {
namespace {

using filter::Assembler;
using filter::Label;
using filter::Register;
using probes::ProbeValue;
using probes::ValueForm;
using probes::ValueStart;

// Of struct pt_regs, in bytes: what the calling convention says of a function's entry and return.
struct Machine {
    std::vector<std::uint16_t> arguments;
    std::uint16_t result, stack_pointer;
    std::int32_t entry_to_return;  // what a return adds to the stack pointer
};

const Machine& machine() {
#if defined(__x86_64__)
    static const Machine kMachine{{112, 104, 96, 88, 72, 64}, 80, 152, 8};
#else
    static const Machine kMachine{{0, 8, 16, 24, 32, 40, 48, 56}, 0, 248, 0};
#endif
    return kMachine;
}

constexpr Register kContext = Register::k6;
constexpr Register kAt = Register::k8;  // along a value's pointers

// The stack, downwards; what the grouping needs lies above the row.
constexpr std::ptrdiff_t kRowAt = -504;
constexpr std::ptrdiff_t kWordAt = -16;     // of a value on its way
constexpr std::ptrdiff_t kCallKeyAt = -32;  // with kCallKeyBytes
constexpr std::ptrdiff_t kCounterAt = -8;   // index of a counter
static_assert(kRowAt + static_cast<std::ptrdiff_t>(filter::kRowBytesMax) <= -264);

constexpr int kRowsFlags = 0;  // who waits for rows is woken

class Writer {
  public:
    Writer(const std::vector<ProbeColumn>& columns,
           const filter::RowLayout& layout,
           const ProbeMaps& maps)
        : columns_(columns), layout_(layout), maps_(maps) {}

    std::optional<std::vector<bpf_insn>> entered() && {
        const Label out = code_.new_label();
        begin(out);
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (is_of_entry(columns_[i])) {
                fill(i);
            }
        }
        // the time goes before the row, where the map's value begins
        code_.call(BPF_FUNC_ktime_get_ns);
        code_.store(Register::kFrame, kRowAt - 8, Register::k0, 8);
        put_call_key(machine().entry_to_return);
        code_.set_map(Register::k1, maps_.calls);
        point_to(Register::k2, kCallKeyAt);
        point_to(Register::k3, kRowAt - 8);
        code_.set(Register::k4, BPF_ANY);
        code_.call(BPF_FUNC_map_update_elem);
        code_.jump_if(BPF_JEQ, Register::k0, 0, out);
        count(ProbeCounter::kNotKept);
        end(out);
        return std::move(code_).finish();
    }

    std::optional<std::vector<bpf_insn>> fired(const filter::BpfGrouping* grouping,
                                               bool of_return) && {
        const Label out = code_.new_label(), pass = code_.new_label();
        begin(out);
        if (of_return) {
            take_call(out);
        }
        for (std::size_t i = 0; i < columns_.size(); ++i) {
            if (!of_return || !is_of_entry(columns_[i])) {
                fill(i);
            }
        }
        if (grouping != nullptr) {
            grouping->count_row(code_, kRowAt, maps_.groups, out, pass);
            code_.jump(out);
        }
        code_.place(pass);
        hand_out(out);
        end(out);
        return std::move(code_).finish();
    }

  private:
    static bool is_of_entry(const ProbeColumn& column) {
        return column.source == RowSource::kValue && column.value.start != ValueStart::kResult &&
               column.value.start != ValueStart::kConstant;
    }

    void begin(Label out) {
        code_.set(kContext, Register::k1);
        leave_unless_watched(out);
        code_.set(Register::k1, 0);
        for (std::size_t at = 0; at < layout_.bytes(); at += 8) {
            code_.store(
                Register::kFrame, kRowAt + static_cast<std::ptrdiff_t>(at), Register::k1, 8);
        }
    }

    void end(Label out) {
        code_.place(out);
        code_.set(Register::k0, 0);
        code_.exit();
    }

    void leave_unless_watched(Label out) {
        const Label is_watched = code_.new_label();
        if (maps_.watched.by_address) {
            code_.call(BPF_FUNC_get_current_task);
            code_.store(Register::kFrame, kWordAt, Register::k0, 8);
            code_.set_map(Register::k1, maps_.watched.map_fd);
            point_to(Register::k2, kWordAt);
            code_.call(BPF_FUNC_map_lookup_elem);
        } else {
            code_.call(BPF_FUNC_get_current_task_btf);
            code_.set(Register::k2, Register::k0);
            code_.set_map(Register::k1, maps_.watched.map_fd);
            code_.set(Register::k3, 0);
            code_.set(Register::k4, 0);
            code_.call(BPF_FUNC_task_storage_get);
        }
        code_.jump_if(BPF_JEQ, Register::k0, 0, maps_.watched.all ? is_watched : out);
        code_.load(Register::k1, Register::k0, TASK_FLAGS_AT, 4);
        code_.calculate(
            BPF_AND, Register::k1, TASK_EXCLUDED | (maps_.watched.all ? 0 : TASK_WATCHED));
        code_.jump_if(BPF_JNE, Register::k1, maps_.watched.all ? 0 : TASK_WATCHED, out);
        code_.place(is_watched);
    }

    void point_to(Register to, std::ptrdiff_t frame_offset) {
        code_.set(to, Register::kFrame);
        code_.calculate(BPF_ADD, to, static_cast<std::int32_t>(frame_offset));
    }

    void count(ProbeCounter counter) {
        const Label done = code_.new_label();
        code_.set(Register::k1, static_cast<std::int32_t>(counter));
        code_.store(Register::kFrame, kCounterAt, Register::k1, 4);
        code_.set_map(Register::k1, maps_.counters);
        point_to(Register::k2, kCounterAt);
        code_.call(BPF_FUNC_map_lookup_elem);
        code_.jump_if(BPF_JEQ, Register::k0, 0, done);
        code_.set(Register::k1, 1);
        code_.add_atomically(Register::k0, 0, Register::k1);
        code_.place(done);
    }

    // Who calls, and where on its stack: a function that calls itself is another call.
    void put_call_key(std::int32_t on_return) {
        code_.call(BPF_FUNC_get_current_pid_tgid);
        code_.store(Register::kFrame, kCallKeyAt, Register::k0, 8);
        code_.load(Register::k1, kContext, machine().stack_pointer, 8);
        code_.calculate(BPF_ADD, Register::k1, on_return);
        code_.store(Register::kFrame, kCallKeyAt + 8, Register::k1, 8);
    }

    // The row as it was at the entry.
    void take_call(Label out) {
        const Label is_there = code_.new_label();
        put_call_key(0);
        code_.set_map(Register::k1, maps_.calls);
        point_to(Register::k2, kCallKeyAt);
        code_.call(BPF_FUNC_map_lookup_elem);
        code_.jump_if(BPF_JNE, Register::k0, 0, is_there);
        count(ProbeCounter::kNotEntered);
        code_.jump(out);
        code_.place(is_there);
        for (std::size_t at = 0; at < layout_.bytes() + 8; at += 8) {
            code_.load(Register::k1, Register::k0, at, 8);
            code_.store(
                Register::kFrame, kRowAt - 8 + static_cast<std::ptrdiff_t>(at), Register::k1, 8);
        }
        code_.set_map(Register::k1, maps_.calls);
        point_to(Register::k2, kCallKeyAt);
        code_.call(BPF_FUNC_map_delete_elem);
    }

    void hand_out(Label out) {
        const Label failed = code_.new_label();
        code_.set_map(Register::k1, maps_.rows);
        point_to(Register::k2, kRowAt);
        code_.set(Register::k3, static_cast<std::int32_t>(layout_.bytes()));
        code_.set(Register::k4, kRowsFlags);
        code_.call(BPF_FUNC_ringbuf_output);
        code_.jump_if(BPF_JNE, Register::k0, 0, failed);
        count(ProbeCounter::kHandedOut);
        code_.jump(out);
        code_.place(failed);
        count(ProbeCounter::kLost);
    }

    std::ptrdiff_t place_of(std::size_t i) const {
        return kRowAt + static_cast<std::ptrdiff_t>(layout_.fields()[i].field->offset);
    }

    void set_null(std::size_t i) {
        code_.load_frame(Register::k1, kRowAt, 8);
        code_.calculate(BPF_OR, Register::k1, std::int32_t{1} << i);
        code_.store(Register::kFrame, kRowAt, Register::k1, 8);
    }

    // Puts the value of a column in the row.
    void fill(std::size_t i) {
        const ProbeColumn& column = columns_[i];
        switch (column.source) {
            case RowSource::kValue:
                return fill_value(i);
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
                point_to(Register::k1, place_of(i));
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
            case RowSource::kPlace:
                code_.set(Register::k1, kContext);
                code_.call(BPF_FUNC_get_attach_cookie);
                break;
            case RowSource::kKernelStack:
            case RowSource::kUserStack:
                return fill_stack(i);
        }
        code_.store(Register::kFrame, place_of(i), Register::k0, 8);
    }

    void keep_low_half() {
        code_.calculate(BPF_LSH, Register::k0, 32);
        code_.calculate(BPF_RSH, Register::k0, 32);
    }

    // The stack's number, and whose addresses they are above it.
    void fill_stack(std::size_t i) {
        const Label there = code_.new_label(), done = code_.new_label();
        const bool of_user = columns_[i].source == RowSource::kUserStack;
        code_.set(Register::k1, kContext);
        code_.set_map(Register::k2, maps_.stacks);
        code_.set(Register::k3, of_user ? BPF_F_USER_STACK : 0);
        code_.call(BPF_FUNC_get_stackid);
        code_.jump_if(BPF_JSGE, Register::k0, 0, there);
        set_null(i);
        code_.jump(done);
        code_.place(there);
        code_.store(Register::kFrame, place_of(i), Register::k0, 8);
        if (of_user) {
            code_.call(BPF_FUNC_get_current_pid_tgid);
            code_.calculate(BPF_RSH, Register::k0, 32);
            code_.calculate(BPF_LSH, Register::k0, 32);
            code_.load_frame(Register::k1, place_of(i), 8);
            code_.calculate(BPF_OR, Register::k0, Register::k1);
            code_.store(Register::kFrame, place_of(i), Register::k0, 8);
        }
        code_.place(done);
    }

    void fill_value(std::size_t i) {
        const ProbeValue& value = columns_[i].value;
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
            code_.store(Register::kFrame, place_of(i), kAt, 8);
        } else {
            read_text(i, value, last, failed);
        }
        code_.jump(done);
        code_.place(failed);
        set_null(i);
        code_.place(done);
    }

    // Into kAt.
    void load_start(const ProbeValue& value, Label failed) {
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
    void read_memory(const ProbeValue& value,
                     std::int64_t offset,
                     std::uint32_t bytes,
                     Label failed) {
        code_.set(Register::k1, 0);
        code_.store(Register::kFrame, kWordAt, Register::k1, 8);
        point_to(Register::k1, kWordAt);
        code_.set(Register::k2, static_cast<std::int32_t>(bytes));
        code_.set(Register::k3, kAt);
        code_.calculate(BPF_ADD, Register::k3, static_cast<std::int32_t>(offset));
        code_.call(value.is_in_user_memory ? BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
        code_.jump_if(BPF_JNE, Register::k0, 0, failed);
    }

    void read_text(std::size_t i, const ProbeValue& value, std::int64_t offset, Label failed) {
        const std::size_t room = layout_.fields()[i].field->bytes;
        const bool is_array = value.form == ValueForm::kTextArray;
        // an array that is full has no NUL: its row has one byte more
        const std::size_t bytes = is_array ? std::min<std::size_t>(room, value.bytes + 1) : room;
        point_to(Register::k1, place_of(i));
        code_.set(Register::k2, static_cast<std::int32_t>(bytes));
        code_.set(Register::k3, kAt);
        code_.calculate(BPF_ADD, Register::k3, static_cast<std::int32_t>(offset));
        code_.call(value.is_in_user_memory ? BPF_FUNC_probe_read_user_str
                                           : BPF_FUNC_probe_read_kernel_str);
        code_.jump_if(BPF_JSLT, Register::k0, 0, failed);
    }

    // What is above the value in its register goes.
    void narrow(const ProbeValue& value) {
        const std::uint32_t bits = value.bits > 0 ? value.bits : value.bytes * 8;
        const std::uint32_t above = 64 - bits - (value.bits > 0 ? value.bit_offset : 0);
        if (bits == 64) {
            return;
        }
        code_.calculate(BPF_LSH, kAt, static_cast<std::int32_t>(above));
        code_.calculate(
            value.is_signed ? BPF_ARSH : BPF_RSH, kAt, static_cast<std::int32_t>(64 - bits));
    }

    const std::vector<ProbeColumn>& columns_;
    const filter::RowLayout& layout_;
    const ProbeMaps& maps_;
    Assembler code_;
};

}  // namespace

bool needs_return(const std::vector<ProbeColumn>& columns) {
    return std::any_of(columns.begin(), columns.end(), [](const ProbeColumn& column) {
        return column.source == RowSource::kDuration ||
               (column.source == RowSource::kValue && column.value.start == ValueStart::kResult);
    });
}

Result<ProbePrograms> write_probe_programs(const std::vector<ProbeColumn>& columns,
                                           const filter::RowLayout& layout,
                                           const filter::BpfGrouping* grouping,
                                           const ProbeMaps& maps) {
    const bool of_return = needs_return(columns);
    ProbePrograms programs;
    auto fired = Writer(columns, layout, maps).fired(grouping, of_return);
    auto entered = of_return ? Writer(columns, layout, maps).entered()
                             : std::optional<std::vector<bpf_insn>>(std::in_place);
    if (!fired || !entered) {
        return Error(ErrorCode::kUnsupported, "the question is too long for the kernel");
    }
    programs.fired = *std::move(fired);
    programs.entered = *std::move(entered);
    return programs;
}

}  // namespace dyetrace::capture
