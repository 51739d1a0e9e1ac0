// Names of flags and of closed sets of numbers, and the words of an argument: the same in C++ as in SQL.
//
//   append_flags(out, *find_flag_set("open_flags"), 0x241)   "O_WRONLY|O_CREAT|O_TRUNC"
//   append_argument(out, "int", 0xffffffff)                  "-1"
//
// flags/*.toml has the names; prelude.sql does in SQL what flags.cpp does here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "schema/syscalls.h"

namespace dyetrace::schema {

struct FlagLabel {
    std::uint64_t value;
    std::uint64_t cover;  // a name of more bits that hides this one; 0: none
    std::string_view name;
};

// How what has no name is shown.
enum class FlagRest : std::uint8_t { kHex, kOctal, kDecimal };

struct FlagSet {
    std::string_view type;              // word of syscalls.toml
    std::uint64_t width_mask;           // bits that the kernel looks at
    std::uint64_t field_mask;           // bits that `values` name
    std::uint64_t rest_mask;            // bits without a name
    std::uint64_t nameless_mask;        // the same, when the field has no name for its part either
    std::span<const FlagLabel> values;  // by rising value
    std::span<const FlagLabel> bits;    // in the order in which they are shown
    std::string_view zero;              // shown when nothing is set
    FlagRest rest;
    bool last;                 // the word of `values` comes after the bits
    bool pair;                 // the number is the argument before it << 32 | this one
    std::string_view unknown;  // said of a number of which nothing has a name; empty: nothing
};

// All sets, sorted by type.
std::span<const FlagSet> flag_sets();

// nullptr if the word is none of a set.
const FlagSet* find_flag_set(std::string_view type);

// The name under `values`; empty if it has none.
std::string_view field_word(const FlagSet& set, std::uint64_t value);

void append_flags(std::string& out, const FlagSet& set, std::uint64_t value);
std::string flags_text(std::string_view type, std::uint64_t value);

// A scalar argument of the type: words of its set, else the number as signed, unsigned or (address) hexadecimal.
void append_argument(std::string& out, std::string_view type, std::uint64_t value);

// The number of an argument that flag sets look at: with the argument before it where the set is one of pairs.
std::uint64_t argument_value(const SyscallInfo& call,
                             std::size_t index,
                             std::span<const std::uint64_t, 6> arguments);

// The public column `arguments`: {"flags":"O_RDONLY","mode":"000"}. Names as schema::escaped makes them; nothing: the call has none.
void append_arguments_json(std::string& out,
                           const SyscallInfo& call,
                           std::span<const std::uint64_t, 6> arguments,
                           std::optional<std::string_view> name,
                           std::optional<std::string_view> name2);
// The event with its attachments, which hold names.
void append_arguments_json(std::string& out, const SyscallInfo& call, const SyscallEvent& event);

}  // namespace dyetrace::schema
