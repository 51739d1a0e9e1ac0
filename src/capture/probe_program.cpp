#include "capture/probe_program.h"

#include <algorithm>
#include <utility>

#include "capture/row_writer.h"
#include "filter/assembler.h"
#include "filter/bpf_row_condition.h"
#include "kernel/abi.h"

namespace dyetrace::capture {
namespace {

using filter::Assembler;
using filter::Label;
using filter::Register;
using probes::ValueStart;

constexpr std::ptrdiff_t kCallKeyAt = -32;  // with kCallKeyBytes
constexpr std::ptrdiff_t kCounterAt = -8;   // index of a counter

constexpr std::ptrdiff_t kJoinKeyAt =
    -32 - static_cast<std::ptrdiff_t>(8 * kJoinKeysMax);  // above the row

constexpr int kRowsFlags = BPF_RB_NO_WAKEUP;  // who reads them looks often enough

class Writer {
  public:
    Writer(const ProgramRequest& request, std::size_t first)
        : columns_(&request.columns),
          layout_(request.layout),
          join_(request.join),
          maps_(request.maps),
          also_before_(request.also_before),
          where_(request.where),
          first_(first) {}

    std::optional<std::vector<bpf_insn>> entered() && {
        const Label out = code_.new_label();
        begin(out, join_.own.empty());
        for (std::size_t i = 0; i < columns_->size(); ++i) {
            if (is_of_entry((*columns_)[i])) {
                row_.fill((*columns_)[i], first_ + i);
            }
        }
        // the time goes before the row, where the map's value begins
        code_.call(BPF_FUNC_ktime_get_ns);
        code_.store(Register::kFrame, kRowAt - 8, Register::k0, 8);
        put_call_key(machine().entry_to_return);
        code_.set_map(Register::k1, maps_.calls);
        point_to(code_, Register::k2, kCallKeyAt);
        point_to(code_, Register::k3, kRowAt - 8);
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
        begin(out, join_.own.empty());
        if (of_return) {
            take_call(out);
        }
        for (std::size_t i = 0; i < columns_->size(); ++i) {
            if (!of_return || !is_of_entry((*columns_)[i])) {
                row_.fill((*columns_)[i], first_ + i);
            }
        }
        if (!join_.own.empty()) {
            add_earlier(out);
        }
        if (grouping != nullptr) {
            grouping->count_row(code_, kRowAt, maps_.groups, out, pass);
            code_.jump(out);
        } else if (where_ != nullptr) {
            leave_unless_selected(out, pass);
        }
        code_.place(pass);
        hand_out(out);
        if (also_before_ != nullptr) {
            code_.place(out);
            const Label done = code_.new_label();
            first_ = columns_->size();
            columns_ = also_before_;
            leave_unless_watched(done);
            clear_row();
            remember(done);
            end(done);
        } else {
            end(out);
        }
        return std::move(code_).finish();
    }

    std::optional<std::vector<bpf_insn>> earlier() && {
        const Label out = code_.new_label();
        begin(out);
        remember(out);
        end(out);
        return std::move(code_).finish();
    }

  private:
    // A stack, too: when a function returns it is no longer on it.
    static bool is_of_entry(const ProbeColumn& column) {
        return column.source == RowSource::kKernelStack || column.source == RowSource::kUserStack ||
               (column.source == RowSource::kValue && column.value.start != ValueStart::kResult &&
                column.value.start != ValueStart::kConstant);
    }

    // Where two probes are joined, the one before says whose they are: what belongs to it may happen to anybody.
    void begin(Label out, bool only_watched = true) {
        code_.set(kContext, Register::k1);
        if (only_watched) {
            leave_unless_watched(out);
        }
        clear_row();
    }

    void clear_row() {
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
        const bool wants_context =
            std::any_of(columns_->begin(), columns_->end(), [](const ProbeColumn& column) {
                return column.source == RowSource::kContext;
            });
        if (wants_context && maps_.watched.all) {
            code_.set(Register::k1, 0);
            code_.store(Register::kFrame, kContextAt, Register::k1, 8);
        }
        if (maps_.watched.by_address) {
            code_.call(BPF_FUNC_get_current_task);
            code_.store(Register::kFrame, kWordAt, Register::k0, 8);
            code_.set_map(Register::k1, maps_.watched.map_fd);
            point_to(code_, Register::k2, kWordAt);
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
        if (wants_context) {
            code_.load(Register::k1, Register::k0, TASK_CONTEXT_AT, 4);
            code_.store(Register::kFrame, kContextAt, Register::k1, 8);
        }
        code_.place(is_watched);
    }

    void leave_unless_selected(Label out, Label pass) {
        const Label is_not = code_.new_label();
        filter::write_row_condition(code_, *where_, kRowAt, is_not, pass);
        code_.jump(pass);
        code_.place(is_not);
        count(ProbeCounter::kFiltered);
        code_.jump(out);
    }

    void count(ProbeCounter counter) {
        const Label done = code_.new_label();
        code_.set(Register::k1, static_cast<std::int32_t>(counter));
        code_.store(Register::kFrame, kCounterAt, Register::k1, 4);
        code_.set_map(Register::k1, maps_.counters);
        point_to(code_, Register::k2, kCounterAt);
        code_.call(BPF_FUNC_map_lookup_elem);
        code_.jump_if(BPF_JEQ, Register::k0, 0, done);
        code_.set(Register::k1, 1);
        code_.add_atomically(Register::k0, 0, Register::k1);
        code_.place(done);
    }

    // What comes later finds it.
    void remember(Label out) {
        for (std::size_t i = 0; i < columns_->size(); ++i) {
            row_.fill((*columns_)[i], first_ + i);
        }
        put_join_key(join_.earlier, out);
        code_.set_map(Register::k1, maps_.earlier);
        point_to(code_, Register::k2, kJoinKeyAt);
        point_to(code_, Register::k3, kRowAt);
        code_.set(Register::k4, BPF_ANY);
        code_.call(BPF_FUNC_map_update_elem);
    }

    // Who has no value belongs to nobody.
    void put_join_key(const std::vector<std::size_t>& values, Label out) {
        std::ptrdiff_t at = kJoinKeyAt;
        for (const std::size_t number : values) {
            code_.load_frame(Register::k1, kRowAt, 8);
            code_.calculate(BPF_AND, Register::k1, std::int32_t{1} << number);
            code_.jump_if(BPF_JNE, Register::k1, 0, out);
            code_.load_frame(Register::k1, row_.place_of(number), 8);
            code_.store(Register::kFrame, at, Register::k1, 8);
            at += 8;
        }
    }

    // The other probe's values, as they were when it fired last.
    void add_earlier(Label out) {
        const Label is_there = code_.new_label();
        put_join_key(join_.own, out);
        code_.set_map(Register::k1, maps_.earlier);
        point_to(code_, Register::k2, kJoinKeyAt);
        code_.call(BPF_FUNC_map_lookup_elem);
        code_.jump_if(BPF_JNE, Register::k0, 0, is_there);
        count(ProbeCounter::kAlone);
        code_.jump(out);
        code_.place(is_there);
        code_.load(Register::k1, Register::k0, 0, 8);
        code_.load_frame(Register::k2, kRowAt, 8);
        code_.calculate(BPF_OR, Register::k1, Register::k2);
        code_.store(Register::kFrame, kRowAt, Register::k1, 8);
        for (std::size_t at = layout_.fields()[columns_->size()].field->offset;
             at < layout_.bytes();
             at += 8) {
            code_.load(Register::k1, Register::k0, at, 8);
            code_.store(
                Register::kFrame, kRowAt + static_cast<std::ptrdiff_t>(at), Register::k1, 8);
        }
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
        point_to(code_, Register::k2, kCallKeyAt);
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
        point_to(code_, Register::k2, kCallKeyAt);
        code_.call(BPF_FUNC_map_delete_elem);
    }

    void hand_out(Label out) {
        const Label failed = code_.new_label();
        code_.set_map(Register::k1, maps_.rows);
        point_to(code_, Register::k2, kRowAt);
        code_.set(Register::k3, static_cast<std::int32_t>(layout_.bytes()));
        code_.set(Register::k4, kRowsFlags);
        code_.call(BPF_FUNC_ringbuf_output);
        code_.jump_if(BPF_JNE, Register::k0, 0, failed);
        count(ProbeCounter::kHandedOut);
        code_.jump(out);
        code_.place(failed);
        count(ProbeCounter::kLost);
    }

    const std::vector<ProbeColumn>* columns_;
    const filter::RowLayout& layout_;
    const RowJoin& join_;
    const ProbeMaps& maps_;
    const std::vector<ProbeColumn>* const also_before_;
    const filter::Expression* const where_;
    std::size_t first_;  // place of the columns in the row
    Assembler code_;
    RowWriter row_{code_, layout_, maps_.stacks};
};

}  // namespace

bool needs_return(const std::vector<ProbeColumn>& columns) {
    return std::any_of(columns.begin(), columns.end(), [](const ProbeColumn& column) {
        return column.source == RowSource::kDuration ||
               (column.source == RowSource::kValue && column.value.start == ValueStart::kResult);
    });
}

Result<ProbePrograms> write_probe_programs(const ProgramRequest& request,
                                           const filter::BpfGrouping* grouping) {
    const bool of_return = needs_return(request.columns);
    ProbePrograms programs;
    auto fired = Writer(request, 0).fired(grouping, of_return);
    auto entered = of_return ? Writer(request, 0).entered()
                             : std::optional<std::vector<bpf_insn>>(std::in_place);
    if (!fired || !entered) {
        return Error(ErrorCode::kUnsupported, "the question is too long for the kernel");
    }
    programs.fired = *std::move(fired);
    programs.entered = *std::move(entered);
    return programs;
}

Result<std::vector<bpf_insn>> write_earlier_program(const ProgramRequest& request) {
    const std::size_t first = request.layout.fields().size() - request.columns.size();
    auto program = Writer(request, first).earlier();
    return program ? Result<std::vector<bpf_insn>>(*std::move(program))
                   : Error(ErrorCode::kUnsupported, "the question is too long for the kernel");
}

}  // namespace dyetrace::capture
