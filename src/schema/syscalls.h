// Every system call that this program knows by name, and what its registers mean.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "schema/generated/records.h"

namespace dyetrace::schema {

struct ArgumentInfo {
    std::string_view name;
    std::string_view type;  // a word of syscalls.toml: fd, path, open_flags, …
    bool is_scalar;         // shown in the public column `arguments`
};

// What the argument after a command is (`by_command` in syscalls.toml): choices.toml.
struct ChoiceInfo {
    std::uint32_t command;
    ArgumentInfo argument;
};

struct SyscallInfo {
    Abi abi;
    std::uint16_t number;
    std::string_view name;
    Class event_class;  // of calls that are not io; io becomes file, network or pipe by the object
    std::string_view returns;  // a word of syscalls.toml: bytes, fd, zero, …
    bool decoded;
    bool is_io;
    std::uint8_t argument_count;
    std::array<ArgumentInfo, 6> arguments;
    std::span<const ChoiceInfo> choices;  // by rising command
    std::string_view
        transfer;  // a word of syscalls.toml: read, write, copy_to, …; empty: it moves no bytes
    std::string_view
        moves;  // moves.toml: seen, nothing, or the name of UnseenBytes or never_seen()
};

// A way in which bytes move, or order is made, that no event tells; for `coverage`, once a call is recorded that does so.
struct UnseenBytes {
    std::string_view name;    // "cloned ranges"
    std::string_view reason;  // what is therefore missing
};

// What the argument is in a call with these registers; `ulong` where nothing is known of the command.
ArgumentInfo argument_of(const SyscallInfo& call,
                         std::size_t index,
                         std::span<const std::uint64_t, 6> arguments);

// What the machine that this is compiled for calls its own programs' convention, and that of 32-bit ones.
#if defined(__aarch64__)
constexpr Abi kNativeAbi = Abi::kArm64, kCompatAbi = Abi::kArm;
#else
constexpr Abi kNativeAbi = Abi::kX8664, kCompatAbi = Abi::kI386;
#endif

constexpr bool is_of_32_bits(Abi abi) {
    return abi == Abi::kI386 || abi == Abi::kArm;
}

// Sorted by (abi, number).
std::span<const SyscallInfo> syscalls();

// By their number in src/kernel, from 1.
std::span<const UnseenBytes> unseen_bytes();

// Names of what is in no trace, so that `coverage` says so in each (src/capture/blind_spots.h).
std::span<const std::string_view> never_seen();

// nullptr if this version does not know the number.
const SyscallInfo* find_syscall(Abi abi, std::uint16_t number);

// What an event does with the bytes of its objects, as the column `transfer` says it.
std::optional<Transfer> transfer_of(const SyscallEvent& event);
std::optional<Transfer> transfer_of(const PartEvent& event);

// Whether the bytes that it moves go out of the process: writes and sends.
bool gives_bytes(const SyscallInfo& call);

// Whether its result is none of its own: sigreturn gives back what the interrupted call returned, or any register.
bool restores_result(Abi abi, std::uint16_t number);

// The calls of one abi, by rising number.
std::span<const SyscallInfo> syscalls_of(Abi abi);

}  // namespace dyetrace::schema
