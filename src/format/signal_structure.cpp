// What calls about signals are handed: actions, sets, stacks.
#include <array>
#include <bit>
#include <cstdint>

#include "format/bytes.h"
#include "format/structure.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

constexpr std::uint64_t kRestorer = 0x04000000;  // SA_RESTORER

// The kernel's, not the C library's.
struct SignalAction {
    std::uint64_t handler, flags, restorer, mask;
};

struct SignalStack {
    std::uint64_t base;
    std::uint32_t flags, padding;
    std::uint64_t bytes;
};

std::string handler_text(std::uint64_t handler) {
    static constexpr std::array<std::string_view, 3> kNames{"SIG_DFL", "SIG_IGN", "SIG_HOLD"};
    return handler < kNames.size() ? std::string(kNames[handler]) : hex(handler);
}

void append_signals(std::string& out, std::uint64_t set) {
    constexpr int kSignals = 64;
    const bool inverted = std::popcount(set) >= kSignals * 2 / 3;
    bool first = true;
    out.append(inverted ? "~[" : "[");
    for (int i = 0; i < kSignals; ++i) {
        if (((set >> i & 1) != 0) != inverted) {
            const std::string name = schema::flags_text("signal", static_cast<unsigned>(i) + 1);
            out.append(first ? "" : " ").append(name, std::string_view("SIG").size());
            first = false;
        }
    }
    out.push_back(']');
}

}  // namespace

bool append_signal_set(std::string& out, std::string_view bytes) {
    const auto set = read_at<std::uint64_t>(bytes);
    if (set) {
        append_signals(out, *set);
    }
    return set.has_value();
}

bool append_signal_action(std::string& out, std::string_view bytes) {
    const auto action = read_at<SignalAction>(bytes);
    if (!action) {
        return false;
    }
    print(out, "{{sa_handler={}, sa_mask=", handler_text(action->handler));
    append_signals(out, action->mask);
    print(out, ", sa_flags={}", schema::flags_text("sigaction_flags", action->flags));
    if ((action->flags & kRestorer) != 0) {
        print(out, ", sa_restorer={}", pointer_text(action->restorer));
    }
    out.push_back('}');
    return true;
}

bool append_signal_stack(std::string& out, std::string_view bytes) {
    const auto stack = read_at<SignalStack>(bytes);
    if (stack) {
        print(out,
              "{{ss_sp={}, ss_flags={}, ss_size={}}}",
              pointer_text(stack->base),
              schema::flags_text("signal_stack_flags", stack->flags),
              stack->bytes);
    }
    return stack.has_value();
}

bool append_signal_number(std::string& out, std::string_view bytes) {
    const auto number = read_at<std::uint32_t>(bytes);
    if (number) {
        print(out, "[{}]", schema::flags_text("signal", *number));
    }
    return number.has_value();
}

}  // namespace dyetrace::format
