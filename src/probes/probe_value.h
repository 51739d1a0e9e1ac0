// How one value of a probe is read where it fires: an argument, a field of what it points to, a result.
//
//   vfs_read: arguments.file.f_inode.i_ino
//
//   start argument 0 ──► r   hop 32: r = *(r + 32)   hop 64: the value is the 8 bytes at r + 64
//
// Without hops the value is what stands at the start itself. Text is read at the address that is reached.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dyetrace::probes {

enum class ValueStart : std::uint8_t {
    kArgument,  // number: which of the registers that hold arguments, from 0
    kResult,    // what the function returned
    kContext,   // number: byte of the program's context
    kRegister,  // number: byte of the register in pt_regs
    kConstant,  // number: the value itself
    kTask,      // the address of the task that runs: its struct task_struct
};

enum class ValueForm : std::uint8_t {
    kInteger,
    kText,       // a pointer to text that ends with a NUL
    kTextArray,  // the text itself, of `bytes`
    // 4 bytes that say where in the context the text is: its byte in the low half, its length with the NUL in the high half.
    kDataLocation,
};

struct ProbeValue {
    ValueStart start = ValueStart::kArgument;
    std::int64_t number = 0;
    std::vector<std::int64_t> hops = {};
    ValueForm form = ValueForm::kInteger;
    std::uint32_t bytes = 8;  // 1, 2, 4 or 8 of an integer
    bool is_signed = false;
    std::uint8_t bit_offset = 0, bits = 0;  // of a bit field; 0 bits: it is none
    bool is_in_user_memory = false;         // what hops and text read
    std::string type = {};                  // as a programmer writes it: "const char *"

    bool operator==(const ProbeValue&) const = default;
};

// A value that a probe has, by the name that people give it.
struct NamedValue {
    std::string name;
    ProbeValue value;
};

}  // namespace dyetrace::probes
