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
#include "filter/bpf_source.h"
#include "filter/expression.h"

namespace dyetrace::filter {

constexpr std::int32_t kErrorMax = 4095;  // the greatest errno of the kernel
constexpr Register kContext = Register::k6;
constexpr Register kEvent = Register::k8;
constexpr Register kInput = Register::k9;

class BpfColumns : public BpfSource {
  public:
    BpfColumns(Assembler& code, std::uint16_t host_index) : code_(code), host_index_(host_index) {}

    bool load(const Expression& leaf, Register to, Exits exits) override {
        return load(leaf.column, to, exits);
    }
    std::vector<NamedNumber> names_of(const Expression& leaf) const override;
    bool load_named(const Expression& leaf, Register to, Exits exits) override;
    std::size_t text_bytes(const Expression& leaf) const override;
    bool copy_text(const Expression& leaf, std::ptrdiff_t frame_offset, Exits exits) override;
    bool compare_text(const Expression& leaf,
                      std::string_view text,
                      Label same,
                      Label different,
                      Exits exits) override;
    std::optional<filter_subject> subject_of(const Expression& leaf) const override;
    void verdict(const Expression& leaf,
                 unsigned number,
                 Label matches,
                 Label differs,
                 Exits exits) override;

  private:
    struct Field;

    bool load(schema::EventColumn column, Register to, Exits exits);
    bool load_event_field(schema::EventColumn column, Register to, Exits exits);
    bool load_task_field(schema::EventColumn column, Register to, Exits exits);
    bool load_object_field(schema::EventColumn column, Register to, Exits exits);
    bool load_calculated(schema::EventColumn column, Register to, Exits exits);
    void load_call(Register to, Register scratch);
    void leave_out_restored(Label null);
    void load_task_id(Register to, Register base, std::size_t start_offset, std::size_t pid_offset);
    void load_port(schema::EventColumn column, Register to, Exits exits);
    void need_present(std::uint32_t bits, Label otherwise);
    void need_absent(std::uint32_t bits, Label otherwise);
    void need_known(std::uint32_t bits, Label otherwise);
    void need_object(std::uint32_t handle_bit,
                     std::uint32_t base_bit,
                     std::uint32_t known_bit,
                     Exits exits);
    void need_ends(Exits exits);
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

}  // namespace dyetrace::filter
