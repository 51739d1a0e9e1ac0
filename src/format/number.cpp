// Arguments that are numbers, where more than their type decides how they look.
#include <fmt/format.h>

#include <iterator>

#include "format/argument.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

enum class PidKind : std::uint8_t { kNeither, kProcess, kGroup };

// What the first argument says of the second one: waitid, getpriority, ioprio_get and so on.
PidKind kind_of(std::string_view first) {
    if (is_one_of(first, {"P_PID", "PRIO_PROCESS", "IOPRIO_WHO_PROCESS"})) {
        return PidKind::kProcess;
    }
    const bool is_group = is_one_of(first, {"P_PGID", "PRIO_PGRP", "IOPRIO_WHO_PGRP"});
    return is_group ? PidKind::kGroup : PidKind::kNeither;
}

}  // namespace

bool CallText::print_long_word(std::string& out, std::size_t index) const {
    if (info_.arguments[index].type == "by_command" || info_.name == "prctl") {
        return print_word(out, index);
    }
    constexpr std::uint64_t kLooksLikeAddress = std::uint64_t{1} << 32;
    if (value(index) >= kLooksLikeAddress && !info_.decoded) {
        append_address(out, index);
        return true;
    }
    fmt::format_to(std::back_inserter(out), "{}", value(index));
    return true;
}

// What a command has no choice for may be an address or a number.
bool CallText::print_word(std::string& out, std::size_t index) const {
    out.append(hex(value(index)));
    return true;
}

// prctl(PR_SCHED_CORE, …)
bool CallText::is_sched_core() const {
    return info_.name == "prctl" && type_of(1) == "sched_core_command" && !detail_.raw;
}

// Whose cookie, what that number is, and where the cookie goes.
void CallText::append_sched_core(std::string& out, std::size_t index) const {
    enum : std::uint32_t { kThread, kProcess, kGroup, kSession };
    const auto type = static_cast<std::uint32_t>(value(3));
    if (index == 2 && type <= kProcess) {
        limits_.pids.append(out, static_cast<std::int32_t>(value(2)));
    } else if (index == 2 && type <= kSession) {
        limits_.pids.append_group(out, static_cast<std::int32_t>(value(2)));
    } else if (index == 2) {
        out.append(std::to_string(static_cast<std::int32_t>(value(2))));
    } else if (index == 3) {
        out.append(constant_text(
            "pid_type",
            type,
            limits_.constants == Constants::kNumbers ? Constants::kNumbers : Constants::kBoth));
    } else {
        append_address(out, index);
    }
}

bool CallText::print_pid(std::string& out, std::size_t index) const {
    const std::string_view type = type_of(index);
    const auto number = static_cast<std::int32_t>(value(index));
    const PidKind kind = type == "group" ? PidKind::kGroup
                         : type == "pid_by_kind"
                             ? kind_of(schema::flags_text(type_of(index - 1), value(index - 1)))
                             : PidKind::kProcess;
    if (type == "pid_or_group") {
        limits_.pids.append_either(out, number);
    } else if (kind == PidKind::kProcess) {
        limits_.pids.append(out, number);
    } else if (kind == PidKind::kGroup) {
        limits_.pids.append_group(out, number);
    } else {
        out.append(std::to_string(number));
    }
    return true;
}

}  // namespace dyetrace::format
