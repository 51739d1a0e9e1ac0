#include "format/signal.h"

#include <fmt/format.h>

#include <csignal>
#include <cstddef>
#include <iterator>
#include <string_view>

#include "format/bytes.h"
#include "schema/errors.h"
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

// {si_signo=…}; `error` is what only a program says that queues it.
void append_braced(std::string& out,
                   const SignalEvent& event,
                   std::int32_t error,
                   const PidText& pids) {
    fmt::format_to(
        std::back_inserter(out), "{{si_signo={}", schema::flags_text("signal", event.signal));
    if (has(event, SignalEvent::kHasCode)) {
        out.append(", si_code=");
        schema::append_argument(out, "signal_code", schema::signal_code(event.signal, event.code));
    }
    if (error != 0) {
        const std::string name = schema::error_name(-std::int64_t{error});
        out.append(", si_errno=");
        out.append(error < 0 || name.empty() ? std::to_string(static_cast<std::uint32_t>(error))
                                             : name);
    }
    if (has(event, SignalEvent::kHasSender)) {
        out.append(", si_pid=");
        pids.append(out, static_cast<std::int32_t>(event.sender_pid));
        out.append(", si_uid=");
        schema::append_argument(out, "id", event.sender_uid);
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
    out.push_back('}');
}

// What the kernel keeps of a siginfo_t that a program gives it.
SignalEvent event_of(std::string_view siginfo) {
    SignalEvent event{};
    event.signal = *read_at<std::uint32_t>(siginfo, offsetof(siginfo_t, si_signo));
    event.code = *read_at<std::int32_t>(siginfo, offsetof(siginfo_t, si_code));
    event.present = SignalEvent::kHasCode;
    if (event.code == SI_TIMER) {
        event.timer = *read_at<std::int32_t>(siginfo, offsetof(siginfo_t, si_timerid));
        event.overrun = *read_at<std::int32_t>(siginfo, offsetof(siginfo_t, si_overrun));
        event.present |= SignalEvent::kHasTimer | SignalEvent::kHasValue;
    } else if ((event.code <= 0 && event.code != SI_SIGIO) ||
               (event.signal == SIGCHLD && event.code != SI_KERNEL)) {
        event.sender_pid = *read_at<std::uint32_t>(siginfo, offsetof(siginfo_t, si_pid));
        event.sender_uid = *read_at<std::uint32_t>(siginfo, offsetof(siginfo_t, si_uid));
        event.present |= SignalEvent::kHasSender;
    }
    if (event.code < SI_USER) {
        event.value = *read_at<std::uint64_t>(siginfo, offsetof(siginfo_t, si_value));
        event.present |= SignalEvent::kHasValue;
    } else if (event.signal == SIGCHLD && has(event, SignalEvent::kHasSender) && event.code > 0) {
        event.status = *read_at<std::int32_t>(siginfo, offsetof(siginfo_t, si_status));
        event.user_ticks = *read_at<std::uint64_t>(siginfo, offsetof(siginfo_t, si_utime));
        event.system_ticks = *read_at<std::uint64_t>(siginfo, offsetof(siginfo_t, si_stime));
        event.present |= SignalEvent::kHasChild;
    } else if (event.code > 0 && is_fault(event.signal)) {
        event.address = *read_at<std::uint64_t>(siginfo, offsetof(siginfo_t, si_addr));
        event.present |= SignalEvent::kHasAddress;
    }
    return event;
}

}  // namespace

void append_signal(std::string& out, const SignalEvent& event, const PidText& pids) {
    fmt::format_to(std::back_inserter(out), "--- {} ", schema::flags_text("signal", event.signal));
    append_braced(out, event, 0, pids);
    out.append(" ---");
}

bool append_siginfo(std::string& out, std::string_view bytes, const PidText& pids) {
    if (bytes.size() < sizeof(siginfo_t)) {
        return false;
    }
    const auto error = *read_at<std::int32_t>(bytes, offsetof(siginfo_t, si_errno));
    if (*read_at<std::int32_t>(bytes) == 0) {
        out.append("{}");  // of a child that waitid did not find
        return true;
    }
    append_braced(out, event_of(bytes), error, pids);
    return true;
}

}  // namespace dyetrace::format
