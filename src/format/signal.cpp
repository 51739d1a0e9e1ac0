#include "format/signal.h"

#include <fmt/format.h>

#include <csignal>
#include <iterator>
#include <string_view>

#include "schema/flags.h"
#include "schema/signals.h"

namespace dyetrace::format {
namespace {

using schema::SignalEvent;

constexpr std::uint64_t kTicksPerSecond = 100;  // USER_HZ

bool has(const SignalEvent& event, std::uint32_t bit) {
    return (event.present & bit) != 0;
}

bool is_fault(std::uint32_t signal) {
    return signal == SIGILL || signal == SIGFPE || signal == SIGSEGV || signal == SIGBUS ||
           signal == SIGTRAP;
}

void append_ticks(std::string& out, std::string_view name, std::uint64_t ticks) {
    fmt::format_to(std::back_inserter(out), ", {}={}", name, ticks);
    if (ticks > 0) {
        fmt::format_to(std::back_inserter(out),
                       " /* {}.{:02} s */",
                       ticks / kTicksPerSecond,
                       ticks % kTicksPerSecond);
    }
}

// That of a child that ended by itself is a number, else a signal.
void append_child(std::string& out, const SignalEvent& event) {
    out.append(", si_status=");
    if (event.code == CLD_EXITED) {
        out.append(std::to_string(event.status));
    } else {
        schema::append_argument(out, "signal", static_cast<std::uint32_t>(event.status));
    }
    append_ticks(out, "si_utime", event.user_ticks);
    append_ticks(out, "si_stime", event.system_ticks);
}

void append_address(std::string& out, const SignalEvent& event) {
    out.append(event.signal == SIGSYS ? ", si_call_addr=" : ", si_addr=");
    out.append(event.address == 0 ? "NULL" : fmt::format("{:#x}", event.address));
}

}  // namespace

void append_signal(std::string& out, const SignalEvent& event) {
    const std::string name = schema::flags_text("signal", event.signal);
    fmt::format_to(std::back_inserter(out), "--- {} {{si_signo={}", name, name);
    if (has(event, SignalEvent::kHasCode)) {
        out.append(", si_code=");
        schema::append_argument(out, "signal_code", schema::signal_code(event.signal, event.code));
    }
    if (has(event, SignalEvent::kHasSender)) {
        fmt::format_to(
            std::back_inserter(out), ", si_pid={}, si_uid={}", event.sender_pid, event.sender_uid);
    }
    if (has(event, SignalEvent::kHasTimer)) {
        fmt::format_to(std::back_inserter(out),
                       ", si_timerid={:#x}, si_overrun={}",
                       event.timer,
                       event.overrun);
    }
    if (has(event, SignalEvent::kHasChild)) {
        append_child(out, event);
    }
    if (has(event, SignalEvent::kHasValue) && event.value != 0) {
        fmt::format_to(std::back_inserter(out),
                       ", si_int={}, si_ptr={:#x}",
                       static_cast<std::int32_t>(event.value),
                       event.value);
    }
    if (has(event, SignalEvent::kHasAddress) ||
        (has(event, SignalEvent::kHasCode) && event.code > 0 && is_fault(event.signal))) {
        append_address(out, event);
    }
    out.append("} ---");
}

}  // namespace dyetrace::format
