// A question that counts as a BPF program: it adds an event up in a table of groups, in place of the filter's program.
//
//   sys_exit builds the event ──► tail call: this program
//        ├─ the condition says no                   ──► dropped_index, or ends
//        ├─ all is known here                       ──► groups[key] += event ──► counted_index
//        └─ undecided, or no room for another group ──► passed_index: the event is written, and counted where it is drained
//
// A probe's program (bpf_row.h) counts its row the same way: count_row().
//
//   key     | NULLs: bit i is about key i | key 0 | key 1 | …      8 bytes each, text its room; what is NULL is 0
//   value   | count | count | sum, low | sum, high | count | extreme | …      per aggregate, as its kind needs
//
// An extreme is the greatest of numbers that ascend as the values do, or descend for the least: all of them begin at 0.
//
// Limits: those of the filter's program; kGroupAggregatesMax, kGroupingStackBytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "filter/bpf_compiler.h"
#include "filter/bpf_source.h"
#include "filter/grouping.h"
#include "filter/string_atoms.h"

namespace dyetrace::filter {

// What the grouping takes of the frame, from its end: two words, the arguments, the key. That is room for 16 numbers and 12
// aggregates. A row lies below.
inline constexpr std::size_t kGroupingStackBytes = 256;

struct BpfGroupTargets {
    int groups_map_fd = -1;  // per-CPU hash of key_bytes() and value_bytes()
    int tables_map_fd = -1;  // or an array of one such map, which may be another one the next time
    int blank_map_fd = -1;   // array with one value of value_bytes(), all zero
    bool is_preemptible = false;  // another task's program may run in between, on the same CPU
    std::optional<std::uint32_t>
        counted_index;  // where to go with an event that was counted; without a table it returns 2
};

class BpfGrouping {
  public:
    // kUnsupported: a key or an argument that the kernel does not have.
    static Result<BpfGrouping> of(const Grouping& grouping, const std::string& host);
    // The same about a probe's rows.
    static Result<BpfGrouping> of_rows(const Grouping& grouping);
    BpfGrouping() = default;  // counts nothing

    std::size_t key_bytes() const { return key_bytes_; }
    std::size_t value_bytes() const { return value_bytes_; }

    // Adds the string conditions to `atoms`; nothing: it is too long.
    std::optional<std::vector<bpf_insn>> program(const BpfLayout& layout,
                                                 const BpfGroupTargets& targets,
                                                 StringAtoms& atoms) const;

    // Writes what counts the row at `row_at` of the stack, and goes on after it with a row that is counted. The
    // stack is its own above the row.
    void count_row(Assembler& code,
                   std::ptrdiff_t row_at,
                   const BpfGroupTargets& targets,
                   Label is_not_selected,
                   Label pass) const;

    // What a program has put there; the partials are those of one CPU.
    GroupKey key(std::span<const std::byte> bytes) const;
    std::vector<Partial> partials(std::span<const std::byte> bytes) const;

  private:
    enum class Form : std::uint8_t {
        kConstant,  // takes no room
        kNumber,    // 64 bits
        kTruth,     // of a condition: 1 where it holds
        kName,      // the number of a name of a closed set
        kBytes,     // so many bytes, NUL to their end
    };
    struct Part {
        Expression expression;
        Form form = Form::kConstant;
        bool is_signed = false;               // of kNumber
        std::size_t bytes = 0;                // of kBytes
        std::vector<NamedNumber> names = {};  // of kName
        std::size_t offset = 0;
        AggregateKind kind = AggregateKind::kCount;  // of an aggregate
    };
    class Writer;

    Result<void> add_parts(const Grouping& grouping, const BpfSource& source);
    static Result<Part> part_of(const Expression& expression, const BpfSource& source);

    Expression where_;
    std::vector<Part> keys_, aggregates_;
    std::size_t key_bytes_ = 8, value_bytes_ = 0;
};

}  // namespace dyetrace::filter
