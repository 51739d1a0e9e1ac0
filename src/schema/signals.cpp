#include "schema/signals.h"

#include <string_view>

#include "schema/flags.h"

namespace dyetrace::schema {
namespace {

constexpr std::int32_t kSiKernel = 0x80;

// A word of the set in quotes, or the bare number that has none.
void append_word(std::string& out, std::string_view set_name, std::uint64_t value) {
    const FlagSet& set = *find_flag_set(set_name);
    const std::string_view quote = field_word(set, value).empty() ? "" : "\"";
    out.append(quote);
    append_flags(out, set, value);
    out.append(quote);
}

template <typename Number>
void append_member(std::string& out, std::string_view name, Number value) {
    out.append(",\"").append(name).append("\":").append(std::to_string(value));
}

}  // namespace

std::uint64_t signal_code(std::uint32_t signal, std::int32_t code) {
    const bool of_one_signal = code > 0 && code != kSiKernel;
    return (of_one_signal ? std::uint64_t{signal} << 32 : 0) | static_cast<std::uint32_t>(code);
}

void append_signal_json(std::string& out, const SignalEvent& e) {
    out.append("{\"signal\":");
    append_word(out, "signal", e.signal);
    if ((e.present & SignalEvent::kHasCode) != 0) {
        out.append(",\"code\":");
        append_word(out, "signal_code", signal_code(e.signal, e.code));
    }
    if ((e.present & SignalEvent::kHasSender) != 0) {
        append_member(out, "pid", e.sender_pid);
        append_member(out, "uid", e.sender_uid);
    }
    if ((e.present & SignalEvent::kHasChild) != 0) {
        append_member(out, "status", e.status);
        append_member(out, "utime", e.user_ticks);
        append_member(out, "stime", e.system_ticks);
    }
    if ((e.present & SignalEvent::kHasTimer) != 0) {
        append_member(out, "timer", e.timer);
        append_member(out, "overrun", e.overrun);
    }
    if ((e.present & SignalEvent::kHasValue) != 0) {
        append_member(out, "value", e.value);
    }
    if ((e.present & SignalEvent::kHasAddress) != 0) {
        out.append(",\"address\":\"");
        append_argument(out, "address", e.address);
        out.push_back('"');
    }
    out.push_back('}');
}

}  // namespace dyetrace::schema
