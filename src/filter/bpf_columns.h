// Loads columns of a system call in BPF, from the event and the filter_input that lie in the per-CPU value.
//
// Registers in a generated program:
//
//   r6 context   r8 event   r9 filter_input   r1 r2 values of the program   r0 r3 used here
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "filter/assembler.h"
#include "filter/expression.h"

namespace dyetrace::filter {

constexpr Register kContext = Register::k6;
constexpr Register kEvent = Register::k8;
constexpr Register kInput = Register::k9;

// Where a load goes when there is no value: the column is NULL, or the kernel does not know.
struct Exits {
    Label null;
    Label undecided;
};

// A closed set of names: the column's text for each number that the kernel has in its place.
struct NamedNumber {
    std::uint32_t number;
    std::string_view name;
};

class BpfColumns {
  public:
    BpfColumns(Assembler& code, std::uint16_t host_index) : code_(code), host_index_(host_index) {}

    // Loads an integer or boolean column; false (and no code): it cannot be known in the kernel.
    bool load(schema::EventColumn column, Register to, Exits exits);

    // Loads the number that a column of names stands for; false: it is no such column.
    bool load_named(schema::EventColumn column, Register to, Exits exits);

    // Copies the 16 bytes of a column onto the stack, NUL to their end; false: it has none.
    bool copy_name(schema::EventColumn column, std::ptrdiff_t frame_offset, Exits exits);

    // Jumps where 16 bytes are, or are not, those of the column; false: they cannot be compared in the kernel.
    bool compare_bytes(schema::EventColumn column,
                       std::string_view text,
                       Label same,
                       Label different,
                       Exits exits);

    // Jumps by the verdict about the text of a column on atom `number`.
    void verdict(
        schema::EventColumn column, unsigned number, Label matches, Label differs, Exits exits);

  private:
    struct Field;

    bool load_event_field(schema::EventColumn column, Register to, Exits exits);
    bool load_task_field(schema::EventColumn column, Register to, Exits exits);
    bool load_object_field(schema::EventColumn column, Register to, Exits exits);
    bool load_calculated(schema::EventColumn column, Register to, Exits exits);
    void load_task_id(Register to, Register base, std::size_t start_offset, std::size_t pid_offset);
    void load_port(schema::EventColumn column, Register to, Exits exits);
    void need_present(std::uint32_t bits, Label otherwise);
    void need_absent(std::uint32_t bits, Label otherwise);
    void need_known(std::uint32_t bits, Label otherwise);
    void need_object(std::uint32_t handle_bit,
                     std::uint32_t base_bit,
                     std::uint32_t known_bit,
                     Exits exits);
    std::optional<std::size_t> find_name(schema::EventColumn column, Exits exits);
    void compare_16(std::size_t offset,
                    const std::uint8_t* bytes,
                    std::size_t size,
                    Label same,
                    Label different);
    bool compare_address(schema::EventColumn column,
                         std::string_view text,
                         Label same,
                         Label different,
                         Exits exits);
    void find_end(bool local, Exits exits, Label of_message);

    Assembler& code_;
    std::uint16_t host_index_;
};

// The names that a column can have; empty for a column that is not of a closed set.
std::vector<NamedNumber> names_of(schema::EventColumn column);

}  // namespace dyetrace::filter
