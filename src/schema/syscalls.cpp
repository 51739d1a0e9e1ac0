#include "schema/syscalls.h"

#include <algorithm>

namespace dyetrace::schema {

namespace {

std::span<const SyscallInfo> find_calls_of(Abi abi) {
    const auto all = syscalls();
    const auto begin =
        std::find_if(all.begin(), all.end(), [&](const auto& call) { return call.abi == abi; });
    const auto end =
        std::find_if(begin, all.end(), [&](const auto& call) { return call.abi != abi; });
    return {begin, end};
}

}  // namespace

// The tables are made once, because somebody asks for each event.
std::span<const SyscallInfo> syscalls_of(Abi abi) {
    static const std::array kCalls = {
        find_calls_of(Abi{0}), find_calls_of(Abi{1}), find_calls_of(Abi{2})};
    const auto index = static_cast<std::size_t>(abi);
    return index < kCalls.size() ? kCalls[index] : std::span<const SyscallInfo>();
}

const SyscallInfo* find_syscall(Abi abi, std::uint16_t number) {
    const auto calls = syscalls_of(abi);
    const auto at = std::lower_bound(
        calls.begin(), calls.end(), number, [](const SyscallInfo& call, std::uint16_t n) {
            return call.number < n;
        });
    return at != calls.end() && at->number == number ? &*at : nullptr;
}

bool gives_bytes(const SyscallInfo& call) {
    return std::any_of(call.arguments.begin(),
                       call.arguments.begin() + call.argument_count,
                       [](const ArgumentInfo& argument) {
                           return argument.type == "bytes_in" || argument.type == "iovec_in" ||
                                  argument.type == "message_in";
                       });
}

ArgumentInfo argument_of(const SyscallInfo& call,
                         std::size_t index,
                         std::span<const std::uint64_t, 6> arguments) {
    const ArgumentInfo& argument = call.arguments[index];
    if (argument.type != "by_command") {
        return argument;
    }
    const auto command = static_cast<std::uint32_t>(arguments[index - 1]);
    const auto at = std::lower_bound(
        call.choices.begin(),
        call.choices.end(),
        command,
        [](const ChoiceInfo& choice, std::uint32_t wanted) { return choice.command < wanted; });
    if (at != call.choices.end() && at->command == command) {
        return {argument.name, at->argument.type, at->argument.is_scalar};
    }
    return {argument.name, "ulong", true};
}

}  // namespace dyetrace::schema
