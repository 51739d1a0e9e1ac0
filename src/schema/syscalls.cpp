#include "schema/syscalls.h"

#include <algorithm>

namespace dyetrace::schema {

std::span<const SyscallInfo> syscalls_of(Abi abi) {
    const auto all = syscalls();
    const auto begin =
        std::find_if(all.begin(), all.end(), [&](const auto& call) { return call.abi == abi; });
    const auto end =
        std::find_if(begin, all.end(), [&](const auto& call) { return call.abi != abi; });
    return {begin, end};
}

const SyscallInfo* find_syscall(Abi abi, std::uint16_t number) {
    const auto calls = syscalls_of(abi);
    const auto at = std::lower_bound(
        calls.begin(), calls.end(), number, [](const SyscallInfo& call, std::uint16_t n) {
            return call.number < n;
        });
    return at != calls.end() && at->number == number ? &*at : nullptr;
}

}  // namespace dyetrace::schema
