// What a call returned; its arguments are in argument.cpp.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <iterator>

#include "format/argument.h"
#include "format/bytes.h"
#include "format/layout.h"
#include "schema/errors.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

struct Restart {
    std::int64_t number;
    std::string_view text;
};

// What only a tracer sees: the call will be made again, or has been.
constexpr std::array kRestarts{
    Restart{512, "To be restarted if SA_RESTART is set"},
    Restart{513, "To be restarted"},
    Restart{514, "To be restarted if no handler"},
    Restart{516, "Interrupted by signal"},
};

}  // namespace

void CallText::append_error(std::string& out) const {
    const std::int64_t number = -event_.result;
    const std::string name = schema::error_name(event_.result);
    for (const Restart& restart : kRestarts) {
        if (restart.number == number) {
            fmt::format_to(std::back_inserter(out), "? {} ({})", name, restart.text);
            return;
        }
    }
    // strerrordesc_np: the same in every locale; nullptr for an error without a name.
    const char* words = strerrordesc_np(static_cast<int>(number));
    if (words == nullptr) {
        fmt::format_to(std::back_inserter(out), "-1 {} (errno {})", name, number);
    } else {
        fmt::format_to(std::back_inserter(out), "-1 {} ({})", name, words);
    }
}

// left {tv_sec=0, tv_nsec=999}
void CallText::append_time_left(std::string& out, std::size_t index) const {
    const auto time = attached_after(index);
    const bool in_microseconds = info_.arguments[index].type == "timeval_in";
    std::string text;
    if (time && (in_microseconds ? append_timeval(text, *time) : append_timespec(text, *time))) {
        out.append(out.ends_with('(') ? "left " : ", left ").append(text);
    }
}

// in [3 5], out [4], left {…}
void CallText::append_ready_sets(std::string& out) const {
    static constexpr std::string_view kNames[] = {"in", "out", "except"};
    bool first = true;
    for (std::size_t set = 0; set < std::size(kNames); ++set) {
        const auto bits = attached_after(1 + set);
        if (bits && bits->find_first_not_of('\0') != std::string_view::npos) {
            out.append(first ? "" : ", ").append(kNames[set]).append(" ");
            append_fd_set(out, *bits, static_cast<std::uint32_t>(value(0)));
            first = false;
        }
    }
}

// 1 ([{fd=5, revents=POLLIN}]), 2 (in [3 5], left {…}), 0 (Timeout)
void CallText::append_ready(std::string& out, bool in_sets) const {
    if (event_.result == 0) {
        out.append("0 (Timeout)");
        return;
    }
    std::string ready = "(";
    if (in_sets) {
        append_ready_sets(ready);
        append_time_left(ready, 4);
    } else {
        const auto set = attached(schema::Attachment::kStructure, 0);
        if (set) {
            append_pollfds(ready, *set, value(0), 0, true, limits_);
        }
        append_time_left(ready, 2);
    }
    print(out, "{} {})", event_.result, ready);
}

// What strace shows after the number: the ready descriptors of a poll, the flags of F_GETFL.
bool CallText::append_returned_structure(std::string& out) const {
    const bool polls = info_.name == "poll" || info_.name == "ppoll";
    const bool selects =
        info_.name == "select" || info_.name == "pselect6" || info_.name == "_newselect";
    if (polls || selects) {
        append_ready(out, selects);
        return true;
    }
    if (info_.name == "recvmmsg" && value(4) != 0) {
        std::string left = "(";
        append_time_left(left, 4);
        print(out, "{}{}", event_.result, left == "(" ? "" : fmt::format(" {})", left));
        return true;
    }
    if (info_.returns == "io_priority") {
        print(out, "{}", event_.result);
        if (limits_.constants != Constants::kNumbers) {
            print(out, " ({})", io_priority_text(static_cast<std::uint32_t>(event_.result)));
        }
        return true;
    }
    if (info_.returns == "policy") {
        const auto policy = static_cast<std::uint64_t>(event_.result);
        const std::string name = schema::flags_text("sched_policy", policy);
        print(out, "{}{}", policy, name.starts_with("SCHED") ? fmt::format(" ({})", name) : "");
        return true;
    }
    if (info_.returns != "fcntl") {
        return false;
    }
    const std::string command = schema::flags_text("fcntl_command", value(1));
    const auto result = static_cast<std::uint64_t>(event_.result);
    if (command == "F_GETFL") {
        fmt::format_to(
            std::back_inserter(out),
            "{:#x} (flags {})",
            result,
            constant_text("open_flags", common_open_flags(info_.abi, result), limits_.constants));
    } else if (command == "F_GETOWN") {
        limits_.pids.append_either(out, event_.result);
    } else if (command == "F_GETLEASE") {
        print(out, "{} ({})", hex(result), schema::flags_text("lock_type", result));
    } else if (command == "F_GETSIG" && result != 0) {
        print(out, "{} ({})", result, schema::flags_text("signal", result));
    } else if (command == "F_GETFD" && result != 0) {
        fmt::format_to(std::back_inserter(out),
                       "{:#x} (flags {})",
                       result,
                       constant_text("close_on_exec", result, limits_.constants));
    } else if (command == "F_GET_SEALS") {
        fmt::format_to(std::back_inserter(out),
                       "{:#x} (seals {})",
                       result,
                       constant_text("seals", result, limits_.constants));
    } else {
        return false;
    }
    return true;
}

void CallText::append_result(std::string& out) const {
    if (!has(schema::SyscallEvent::kHasResult) || info_.returns == "never") {
        out.push_back('?');
        return;
    }
    if (failed()) {
        append_error(out);
        return;
    }
    if (detail_.raw) {
        out.append(hex(static_cast<std::uint64_t>(event_.result)));
        return;
    }
    if (append_returned_structure(out)) {
        return;
    }
    const auto raw = static_cast<std::uint64_t>(event_.result);
    if (info_.returns == "address" || info_.returns == "pointer") {
        fmt::format_to(std::back_inserter(out), "{:#x}", raw);
    } else if (info_.returns == "pid") {
        limits_.pids.append(out, event_.result);
    } else if (info_.returns == "group") {
        limits_.pids.append_group(out, event_.result);
    } else if (info_.returns == "mode") {
        schema::append_argument(out, "mode", raw);
    } else {
        fmt::format_to(std::back_inserter(out), "{}", event_.result);
    }
    const bool made = has(schema::SyscallEvent::kHasFd) && event_.fd == event_.result;
    if (made && has(schema::SyscallEvent::kHasHandle) &&
        !has(schema::SyscallEvent::kHasNamesBase) &&
        (info_.returns == "fd" || info_.returns == "fcntl")) {
        if (const schema::Object* object = dictionary_.object(event_.handle_id)) {
            append_object(out, *object, names_);
        }
    }
}

}  // namespace dyetrace::format
