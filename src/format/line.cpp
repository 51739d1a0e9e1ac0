#include "format/line.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <iterator>

#include "base/harmless.h"
#include "format/colour.h"
#include "format/signal.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

using schema::SyscallEvent;

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
constexpr std::int64_t kSecondsPerDay = 86'400;

Colour colour_of(schema::Class event_class) {
    switch (event_class) {
        case schema::Class::kFile:
            return Colour::kGreen;
        case schema::Class::kMetadata:
            return Colour::kBlue;
        case schema::Class::kNetwork:
            return Colour::kMagenta;
        case schema::Class::kPipe:
            return Colour::kCyan;
        case schema::Class::kProcess:
            return Colour::kYellow;
        case schema::Class::kMemory:
        case schema::Class::kWait:
            return Colour::kDim;
        default:
            return Colour::kBold;
    }
}

// Without what only colours it: ESC [ … m.
std::size_t visible_width(std::string_view text) {
    std::size_t width = text.size();
    for (std::size_t at = text.find('\x1b'); at != std::string_view::npos;
         at = text.find('\x1b', at + 1)) {
        width -= std::min(text.find('m', at), text.size() - 1) - at + 1;
    }
    return width;
}

// The digits of a second after its point.
void append_fraction(std::string& out, std::int64_t ns, int digits) {
    std::int64_t unit = kNsPerSecond;
    for (int i = 0; i < digits; ++i) {
        unit /= 10;
    }
    if (digits > 0) {
        fmt::format_to(std::back_inserter(out), ".{:0{}}", ns % kNsPerSecond / unit, digits);
    }
}

void append_clock(std::string& out, std::int64_t wall_ns, std::int64_t zone_seconds, int digits) {
    const std::int64_t seconds = wall_ns / kNsPerSecond + zone_seconds;
    const std::int64_t of_day = ((seconds % kSecondsPerDay) + kSecondsPerDay) % kSecondsPerDay;
    fmt::format_to(
        std::back_inserter(out), "{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60);
    append_fraction(out, wall_ns, digits);
}

void append_seconds(std::string& out, std::int64_t ns, int width, int digits) {
    fmt::format_to(std::back_inserter(out), "{:>{}}", ns / kNsPerSecond, width);
    append_fraction(out, ns, digits);
}

}  // namespace

LineWriter::LineWriter(const LineStyle& style, const schema::Dictionary& dictionary)
    : style_(style), dictionary_(dictionary) {}

std::uint32_t LineWriter::tid_of(std::uint32_t context_id) const {
    const schema::Task* task = dictionary_.task(context_id);
    return task != nullptr ? task->tid : 0;
}

bool LineWriter::append(std::string& out, schema::RecordBytes record) {
    if (const auto* event = schema::as<SyscallEvent>(record)) {
        const std::size_t line = out.size();
        append_prefix(out, tid_of(event->context_id), event->start_ns);
        const schema::SyscallInfo* info =
            schema::find_syscall(static_cast<schema::Abi>(event->abi), event->syscall);
        if (style_.number) {
            fmt::format_to(std::back_inserter(out), "[{:4}] ", event->syscall);
        }
        if (info != nullptr) {
            append_call(out, line, *event, *info);
        } else {
            append_unknown(out, *event);
        }
        return true;
    }
    if (const auto* end = schema::as<schema::ThreadEnd>(record)) {
        append_prefix(out, end->tid, end->end_ns);
        append_end(out, *end);
        return true;
    }
    if (const auto* event = schema::as<schema::LogEvent>(record)) {
        append_prefix(out, tid_of(event->context_id), event->start_ns);
        append_log(out, *event);
        return true;
    }
    if (const auto* event = schema::as<schema::SignalEvent>(record)) {
        append_prefix(out, tid_of(event->context_id), event->start_ns);
        append_signal(out, *event, pids_of(event->context_id, event->start_ns));
        return true;
    }
    return false;
}

void LineWriter::append_prefix(std::string& out, std::uint32_t tid, std::uint64_t at_ns) {
    append_pid(out, tid, at_ns);
    const std::int64_t wall_ns = static_cast<std::int64_t>(at_ns) + style_.wall_offset_ns;
    if (style_.time == TimeStyle::kClock) {
        append_clock(out, wall_ns, style_.zone_offset_seconds, style_.time_digits);
    } else if (style_.time == TimeStyle::kUnix) {
        append_seconds(out, wall_ns, 0, style_.time_digits);
    }
    const bool both = style_.time != TimeStyle::kNone && style_.relative_digits;
    out.append(both ? " (+" : "");
    if (style_.relative_digits) {
        append_relative(out, at_ns);
    }
    out.append(both ? ") " : style_.time != TimeStyle::kNone || style_.relative_digits ? " " : "");
}

PidText LineWriter::pids_of(std::uint32_t context_id, std::uint64_t at_ns) const {
    return {style_.pids, dictionary_.numbers(), dictionary_.task(context_id), at_ns};
}

// The thread's number in the pid namespace of dyetrace, where that is known, else the host's.
void LineWriter::append_pid(std::string& out, std::uint32_t tid, std::uint64_t at_ns) const {
    if (!style_.pid) {
        return;
    }
    std::string name;
    if (style_.pids.names) {
        append_thread_name(name, dictionary_.numbers(), tid, at_ns);
    }
    const std::uint32_t ours = dictionary_.numbers().number(tid, style_.pids.namespace_);
    const std::uint32_t shown = ours != 0 ? ours : tid;
    const Painted painted(out, style_.colour, Colour::kDim);
    if (style_.pid_bare) {
        fmt::format_to(std::back_inserter(out), "{:<{}}{} ", shown, name.empty() ? 5 : 0, name);
    } else {
        fmt::format_to(std::back_inserter(out), "[pid {:>5}{}] ", shown, name);
    }
}

void LineWriter::append_relative(std::string& out, std::uint64_t start_ns) {
    const bool first = last_start_ns_ == 0 || start_ns < last_start_ns_;  // lines come by their end
    append_seconds(out,
                   first ? 0 : static_cast<std::int64_t>(start_ns - last_start_ns_),
                   6,
                   *style_.relative_digits);
    last_start_ns_ = start_ns;
}

void LineWriter::append_call(std::string& out,
                             std::size_t line,
                             const SyscallEvent& event,
                             const schema::SyscallInfo& info) const {
    const CallDetail detail =
        style_.details != nullptr ? style_.details->of(info, event) : CallDetail{};
    Limits limits = style_.limits;
    limits.pids = pids_of(event.context_id, event.start_ns);
    const CallText call(event, info, dictionary_, style_.names, limits, detail);
    {
        const Painted painted(
            out, style_.colour, colour_of(static_cast<schema::Class>(event.event_class)));
        out.append(info.name);
    }
    out.push_back('(');
    call.append_arguments(out);
    const bool unfinished = event.state == static_cast<std::uint8_t>(schema::State::kUnfinished) &&
                            info.returns != "never";
    out.append(unfinished ? " <unfinished ...>)" : ")");
    const std::size_t width = visible_width(std::string_view(out).substr(line));
    out.append(width + 1 < style_.result_column ? style_.result_column - 1 - width : 0, ' ');
    out.append(" = ");
    {
        const Painted painted(out, style_.colour && call.failed(), Colour::kRed);
        call.append_result(out);
    }
    if (style_.duration_digits && (event.present & SyscallEvent::kHasDuration) != 0) {
        out.append(" <");
        append_seconds(
            out, static_cast<std::int64_t>(event.duration_ns), 0, *style_.duration_digits);
        out.push_back('>');
    }
    if (detail.dump) {
        call.append_dump(out);
    }
}

void LineWriter::append_unknown(std::string& out, const SyscallEvent& event) const {
    fmt::format_to(std::back_inserter(out), "syscall_{:#x}(", event.syscall);
    for (std::size_t i = 0; i < std::size(event.arguments); ++i) {
        fmt::format_to(std::back_inserter(out), "{}{:#x}", i > 0 ? ", " : "", event.arguments[i]);
    }
    const bool returned = (event.present & SyscallEvent::kHasResult) != 0;
    out.append(returned ? fmt::format(") = {}", event.result) : std::string(") = ?"));
}

void LineWriter::append_end(std::string& out, const schema::ThreadEnd& end) const {
    if (WIFSIGNALED(end.exit_code)) {
        fmt::format_to(std::back_inserter(out),
                       "+++ killed by {}{} +++",
                       schema::flags_text("signal", static_cast<unsigned>(WTERMSIG(end.exit_code))),
                       WCOREDUMP(end.exit_code) ? " (core dumped)" : "");
    } else {
        fmt::format_to(
            std::back_inserter(out), "+++ exited with {} +++", WEXITSTATUS(end.exit_code));
    }
}

void LineWriter::append_log(std::string& out, const schema::LogEvent& event) const {
    out.append("--- ");
    out.append(
        base::make_harmless(schema::attachment(event, schema::Attachment::kText).value_or("")));
    out.append(" ---");
}

}  // namespace dyetrace::format
