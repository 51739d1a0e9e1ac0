#include "schema/syscalls.h"

#include <algorithm>

#include "schema/generated/enum_names.h"

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

constexpr std::uint64_t kMsgPeek = 2, kMsgErrqueue = 0x2000;
constexpr std::uint32_t kAccessMode = 3, kReadOnly = 0;  // O_ACCMODE, O_RDONLY

std::uint64_t message_flags_of(const SyscallInfo& call, const SyscallEvent& event) {
    for (std::size_t i = 0; i < call.argument_count; ++i) {
        if (call.arguments[i].type == "message_flags") {
            return event.arguments[i];
        }
    }
    return 0;
}

// The macro _transfer of prelude.sql says the same.
std::optional<Transfer> transfer_of(const SyscallInfo& call,
                                    std::optional<std::uint32_t> open_flags,
                                    std::uint64_t message_flags) {
    if (call.transfer == "read") {
        return (message_flags & kMsgErrqueue) != 0 ? std::nullopt
               : (message_flags & kMsgPeek) != 0   ? std::optional(Transfer::kPeek)
                                                   : Transfer::kRead;
    }
    if (call.transfer == "by_mode") {
        return !open_flags                                ? std::nullopt
               : (*open_flags & kAccessMode) == kReadOnly ? std::optional(Transfer::kRead)
                                                          : Transfer::kWrite;
    }
    const auto names = transfer_names();
    const auto at = std::find(names.begin(), names.end(), call.transfer);
    return call.transfer.empty() || at == names.end()
               ? std::nullopt
               : std::optional(static_cast<Transfer>(at - names.begin()));
}

template <class Event>
std::optional<std::uint32_t> open_flags_of(const Event& event) {
    return (event.present & Event::kHasOpenFlags) != 0 ? std::optional(event.open_flags)
                                                       : std::nullopt;
}

}  // namespace

// The tables are made once, because somebody asks for each event.
std::span<const SyscallInfo> syscalls_of(Abi abi) {
    static const std::array kCalls = {find_calls_of(Abi::kX8664),
                                      find_calls_of(Abi::kI386),
                                      find_calls_of(Abi::kX32),
                                      find_calls_of(Abi::kArm64),
                                      find_calls_of(Abi::kArm)};
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

std::optional<Transfer> transfer_of(const SyscallEvent& event) {
    const SyscallInfo* const call = find_syscall(static_cast<Abi>(event.abi), event.syscall);
    return call == nullptr
               ? std::nullopt
               : transfer_of(*call, open_flags_of(event), message_flags_of(*call, event));
}

std::optional<Transfer> transfer_of(const PartEvent& event) {
    const SyscallInfo* const call = find_syscall(static_cast<Abi>(event.abi), event.operation);
    const bool reports_error = (event.present & PartEvent::kHasReportsError) != 0;
    const bool peeks = (event.present & PartEvent::kHasPeeks) != 0;
    return call == nullptr ? std::nullopt
                           : transfer_of(*call,
                                         open_flags_of(event),
                                         reports_error ? kMsgErrqueue
                                         : peeks       ? kMsgPeek
                                                       : 0);
}

bool gives_bytes(const SyscallInfo& call) {
    return call.transfer == "write" || call.transfer == "by_mode";
}

bool restores_result(Abi abi, std::uint16_t number) {
    const SyscallInfo* const call = find_syscall(abi, number);
    return call != nullptr && call->returns == "restored";
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
