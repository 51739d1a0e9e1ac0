// Writes what puts the values of one firing into a row on the stack of a probe's program (filter/row.h).
//
//   -16 a word on its way   -32 … keys of calls and joins   -264 … what the grouping needs ends   kRowAt: the row
//
// Text that is longer than its room is cut; what cannot be read is NULL.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/assembler.h"
#include "filter/row.h"
#include "probes/probe_value.h"

namespace dyetrace::capture {

// What a column of a row is made of.
enum class RowSource : std::uint8_t {
    kValue,  // an argument, a field of the context, the result
    kPid,
    kTid,
    kUid,
    kGid,
    kComm,
    kCpu,
    kCgroup,
    kTime,
    kDuration,
    kPlace,  // the number of the place that the probe is attached to
    kKernelStack,
    kUserStack,
    kThread,   // the process's number above the thread's
    kContext,  // the id of the task's context, which the capture has announced; 0: it has none yet
    kStrangerValue,  // a value of the task, where it has none
};

struct ProbeColumn {
    filter::RowColumn row;
    RowSource source = RowSource::kValue;
    probes::ProbeValue value = {};  // of kValue and kStrangerValue
    bool operator==(const ProbeColumn&) const = default;
};

// Where struct pt_regs, in bytes, has what the calling convention says of a function's entry and return.
struct Machine {
    std::vector<std::uint16_t> arguments;
    std::uint16_t result, stack_pointer;
    std::int32_t entry_to_return;  // what a return adds to the stack pointer
};
const Machine& machine();

inline constexpr filter::Register kContext = filter::Register::k6;
inline constexpr std::ptrdiff_t kRowAt = -504;  // with a word before it
inline constexpr std::ptrdiff_t kWordAt = -16;
inline constexpr std::ptrdiff_t kContextAt =
    -40;  // id of the task's context: of who is watched (probe_program.h); no join has it
static_assert(kRowAt + static_cast<std::ptrdiff_t>(filter::kRowBytesMax) <= -264);

inline void point_to(filter::Assembler& code, filter::Register to, std::ptrdiff_t frame_offset) {
    code.set(to, filter::Register::kFrame);
    code.calculate(BPF_ADD, to, static_cast<std::int32_t>(frame_offset));
}

class RowWriter {
  public:
    // `stacks` is a map of stack traces, or -1. All borrowed.
    RowWriter(filter::Assembler& code, const filter::RowLayout& layout, int stacks)
        : code_(code), layout_(layout), stacks_(stacks) {}

    // Writes the value that has this number in the layout. The context is in its register.
    void fill(const ProbeColumn& column, std::size_t number);

    std::ptrdiff_t place_of(std::size_t number) const {
        return kRowAt + static_cast<std::ptrdiff_t>(layout_.fields()[number].field->offset);
    }

  private:
    void set_null(std::size_t number);
    void keep_low_half();
    void fill_stack(bool of_user, std::size_t number);
    void fill_value(const probes::ProbeValue& value, std::size_t number);
    void load_start(const probes::ProbeValue& value, filter::Label failed);
    void read_memory(const probes::ProbeValue& value,
                     std::int64_t offset,
                     std::uint32_t bytes,
                     filter::Label failed);
    void read_text(std::size_t number,
                   const probes::ProbeValue& value,
                   std::int64_t offset,
                   filter::Label failed);
    void narrow(const probes::ProbeValue& value);

    filter::Assembler& code_;
    const filter::RowLayout& layout_;
    const int stacks_;
};

}  // namespace dyetrace::capture
