#include "importer/strace_import.h"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/text.h"
#include "importer/syscall_names.h"

namespace dyetrace::importer {
namespace {

// "trace.4711", as -ff names its files.
std::uint32_t task_of_file(const std::string& name) {
    const std::string digits = name.substr(name.rfind('.') + 1);
    std::uint32_t task = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), task);
    return error == std::errc() && end == digits.data() + digits.size() && task > 0 &&
                   task < (1u << 22)
               ? task
               : 1;
}

}  // namespace

std::uint64_t StraceImport::host_ns(std::uint64_t time_ns) const {
    const auto since = static_cast<std::int64_t>(time_ns) - offset_ns_;
    return since > 0 ? static_cast<std::uint64_t>(since) : 1;
}

Result<std::unique_ptr<StraceImport::Kept>> StraceImport::read_line(Log& log) {
    for (;;) {
        TRY(const std::optional<Line> line, log.input.next_line());
        if (!line) {
            return std::unique_ptr<Kept>();
        }
        const Place place{log.input.name(), line->number};
        if (line->is_cut) {
            problems_->add_lost("longer than 2 MiB", place);
            continue;
        }
        if (line->text.find_first_not_of(" \t\r") == std::string_view::npos) {
            continue;
        }
        auto kept = std::make_unique<Kept>();
        kept->text = line->text;
        kept->line = parse_strace_line(kept->text);
        kept->number = line->number;
        if (kept->line.kind == StraceKind::kMessage) {
            continue;
        }
        if (kept->line.kind == StraceKind::kUnreadable) {
            problems_->add_lost(line->is_whole ? "no line of strace's" : "a line that is cut off",
                                place);
            continue;
        }
        kept->time_ns = log.clock.next(kept->line);
        return kept;
    }
}

Result<void> StraceImport::read_ahead(Log& log) {
    log.next = std::move(log.after_next);
    if (log.next == nullptr) {
        TRY(log.next, read_line(log));
    }
    if (log.next != nullptr) {
        TRY(log.after_next, read_line(log));
    }
    return {};
}

Result<StraceImport::Log*> StraceImport::earliest() {
    Log* first = nullptr;
    for (Log& log : logs_) {
        if (log.next != nullptr && (first == nullptr || log.next->time_ns < first->next->time_ns)) {
            first = &log;
        }
    }
    return first;
}

Result<void> StraceImport::begin_trace(const Kept& first) {
    const auto day = static_cast<std::int64_t>(first.time_ns / kDayNs * kDayNs);
    offset_ns_ = day - static_cast<std::int64_t>(kDayNs);  // a day of room for lines that step back
    TRY(writer_, trace_->add_host(options_->host, offset_ns_));
    tasks_ = std::make_unique<LogTasks>(*writer_);
    objects_ = std::make_unique<LogObjects>(*writer_);
    calls_ = std::make_unique<StraceCalls>(*writer_, *tasks_, *objects_, *problems_);
    return {};
}

Result<void> StraceImport::read(std::vector<TextInput> inputs) {
    for (TextInput& input : inputs) {
        const std::uint32_t task = task_of_file(input.name());
        logs_.push_back({std::move(input), StraceClock(*options_), task});
    }
    for (Log& log : logs_) {
        TRY(read_ahead(log));
    }
    for (;;) {
        TRY(Log* const log, earliest());
        if (log == nullptr) {
            return {};
        }
        if (writer_ == nullptr) {
            TRY(begin_trace(*log->next));
        }
        const std::unique_ptr<Kept> kept = std::move(log->next);
        end_until(kept->time_ns);
        take(*log, *kept);
        TRY(writer_->flush_if_full());
        TRY(read_ahead(*log));
    }
}

void StraceImport::end_until(std::uint64_t time_ns) {
    while (!endings_.empty() && endings_.top().end_ns <= time_ns) {
        const Ending& ending = endings_.top();
        LogThread* const thread = tasks_->find(ending.task);
        if (thread != nullptr && thread->call) {
            calls_->end(*thread, ending.text, ending.duration_ns, {ending.file, ending.line});
        }
        endings_.pop();
    }
}

void StraceImport::take(Log& log, const Kept& kept) {
    const Place place{log.input.name(), kept.number};
    const std::uint32_t task = kept.line.task.value_or(log.task);
    std::uint64_t time_ns = host_ns(kept.time_ns);
    if (const LogThread* const known = tasks_->find(task); known != nullptr && !known->has_ended) {
        time_ns = std::max(time_ns, known->last_ns + 1);
    }
    LogThread& thread = tasks_->at(task, time_ns);
    has_durations_ = has_durations_ || kept.line.took_ns.has_value();
    has_decorations_ = has_decorations_ || kept.text.find("</") != std::string::npos;
    has_times_ = has_times_ || kept.line.time_is != StraceTime::kNone;
    switch (kept.line.kind) {
        case StraceKind::kCall:
        case StraceKind::kBegins:
            ++calls_taken_;
            take_call(log, kept, thread, time_ns);
            break;
        case StraceKind::kEnds:
            take_end(kept, thread, time_ns, place);
            break;
        case StraceKind::kSignal:
            take_signal(kept, thread, time_ns, place);
            break;
        case StraceKind::kExited:
        case StraceKind::kKilled:
            take_exit(kept, thread, time_ns, place);
            break;
        case StraceKind::kReplaced:
            take_replacement(kept, thread, place);
            break;
        case StraceKind::kMessage:
        case StraceKind::kUnreadable:
            break;
    }
}

void StraceImport::take_call(Log& log, const Kept& kept, LogThread& thread, std::uint64_t time_ns) {
    const Place place{log.input.name(), kept.number};
    if (thread.call) {
        problems_->add_doubt("a call whose end is not in the log", {place.file, thread.call->line});
        calls_->leave(thread, place);
    }
    calls_->begin(thread,
                  {.name = std::string(kept.line.name),
                   .text = std::string(kept.line.text),
                   .start_ns = time_ns,
                   .line = kept.number});
    if (kept.line.kind == StraceKind::kBegins) {
        return;
    }
    std::optional<std::uint64_t> duration_ns = kept.line.took_ns;
    if (logs_.size() == 1) {  // nothing else was seen between its begin and its end
        calls_->end(thread, kept.line.text, duration_ns, place);
        return;
    }
    if (!duration_ns && log.after_next != nullptr) {
        duration_ns = log.after_next->time_ns - kept.time_ns - 1;
    }
    endings_.push({kept.time_ns + duration_ns.value_or(0),
                   ++endings_seen_,
                   thread.tid,
                   std::string(kept.line.text),
                   duration_ns,
                   log.input.name(),
                   kept.number});
}

void StraceImport::take_end(const Kept& kept,
                            LogThread& thread,
                            std::uint64_t time_ns,
                            const Place& place) {
    if (!thread.call || thread.call->name != kept.line.name) {
        problems_->add_lost("the end of a call whose begin is not in the log", place);
        return;
    }
    const std::string text = thread.call->text + std::string(kept.line.text);
    // -T leaves out what strace itself took, the times of lines do not: a call is not over before it was resumed, or what it got
    // would have been there before it was sent. Times of whole seconds say less than -T.
    const std::uint64_t elapsed_ns = time_ns - thread.call->start_ns;
    const bool is_exact = kept.line.time_ns % kSecondNs != 0;
    const std::uint64_t took_ns = kept.line.took_ns.value_or(elapsed_ns);
    calls_->end(thread, text, is_exact ? std::max(took_ns, elapsed_ns) : took_ns, place);
}

void StraceImport::take_signal(const Kept& kept,
                               LogThread& thread,
                               std::uint64_t time_ns,
                               const Place& place) {
    const auto signal = argument_number("signal", kept.line.name);
    if (!signal) {
        problems_->add_lost("a signal that this version does not know", place);
        return;
    }
    schema::SignalEvent event{};
    event.start_ns = time_ns;
    event.signal = static_cast<std::uint32_t>(*signal);
    event.context_id = tasks_->context_of(thread, time_ns);
    const auto number = [&](const char* name, std::string_view type) {
        const std::string_view text = member_of(kept.line.text, name);
        return text.empty() ? std::nullopt : argument_number(type, text);
    };
    if (const auto code = number("si_code", "signal_code")) {
        event.code = static_cast<std::int32_t>(static_cast<std::uint32_t>(*code));
        event.present |= schema::SignalEvent::kHasCode;
    }
    if (const auto pid = number("si_pid", "int")) {
        event.sender_pid = static_cast<std::uint32_t>(*pid);
        event.sender_uid =
            static_cast<std::uint32_t>(number("si_uid", "int").value_or(kUserUnknown));
        event.present |= schema::SignalEvent::kHasSender;
    }
    if (const auto status = number("si_status", "signal")) {
        event.status = static_cast<std::int32_t>(*status);
        event.user_ticks = number("si_utime", "ulong").value_or(0);
        event.system_ticks = number("si_stime", "ulong").value_or(0);
        event.present |= schema::SignalEvent::kHasChild;
    }
    if (const auto address = number("si_addr", "address")) {
        event.address = *address;
        event.present |= schema::SignalEvent::kHasAddress;
    }
    writer_->add(event);
    // Delivered while a call is under way, which returns after it.
    if (!thread.call) {
        thread.last_ns = time_ns;
    }
}

void StraceImport::end_thread(LogThread& thread, std::uint64_t time_ns, std::int32_t exit_code) {
    schema::ThreadEnd fact{};
    fact.end_ns = time_ns;
    fact.thread_start_ns = thread.start_ns;
    fact.process_start_ns = thread.process->start_ns;
    fact.pid = thread.process->pid;
    fact.tid = thread.tid;
    fact.exit_code = exit_code;
    writer_->add_fact(fact);
    thread.has_ended = true;
}

void StraceImport::take_exit(const Kept& kept,
                             LogThread& thread,
                             std::uint64_t time_ns,
                             const Place& place) {
    if (thread.call) {
        calls_->leave(thread, place);
    }
    const std::string_view words = kept.line.text;
    const std::string_view word = words.substr(0, words.find(' '));
    std::int32_t exit_code = 0;
    if (kept.line.kind == StraceKind::kExited) {
        exit_code = static_cast<std::int32_t>(argument_number("int", word).value_or(0) & 0xff) << 8;
    } else {
        exit_code = static_cast<std::int32_t>(argument_number("signal", word).value_or(0) & 0x7f);
        exit_code |= words.find("core dumped") != std::string_view::npos ? WCOREFLAG : 0;
    }
    end_thread(thread, time_ns, exit_code);
}

// execve by a thread that is not the first one: it goes on under the number of that one, which has ended.
void StraceImport::take_replacement(const Kept& kept, LogThread& thread, const Place& place) {
    const auto other = argument_number("int", kept.line.text);
    LogThread* const caller =
        other && *other <= UINT32_MAX ? tasks_->find(static_cast<std::uint32_t>(*other)) : nullptr;
    if (caller == nullptr || caller == &thread) {
        problems_->add_doubt("an execve by a thread that the log does not have", place);
        return;
    }
    if (thread.call) {
        calls_->leave(thread, place);
    }
    thread.call = std::move(caller->call);
    caller->call.reset();
    thread.last_ns = std::max(thread.last_ns, caller->last_ns);
    end_thread(*caller, std::max(thread.last_ns, caller->last_ns) + 1, 0);
}

void StraceImport::leave_calls() {
    end_until(UINT64_MAX);
    for (LogThread* const thread : tasks_->all()) {
        if (thread->call) {
            calls_->leave(*thread, {logs_.front().input.name(), thread->call->line});
        }
    }
}

Result<void> StraceImport::finish() {
    if (writer_ != nullptr) {
        leave_calls();
    }
    if (calls_taken_ == 0 || writer_->events() == 0) {
        std::string names;
        for (const Log& log : logs_) {
            names += (names.empty() ? "" : ", ") + log.input.name();
        }
        return Error(ErrorCode::kCorrupt, fmt::format("no call of strace's in {}", names));
    }
    say_coverage();
    writer_->count_lost(problems_->lost());
    return {};
}

void StraceImport::say_coverage() const {
    using schema::CoverageState;
    std::string names;
    for (const Log& log : logs_) {
        if (names.size() < 200) {
            names += (names.empty() ? "" : ", ") + log.input.name();
        }
    }
    writer_->say_coverage(
        "import",
        CoverageState::kPartial,
        fmt::format("from {} of strace: {}", base::counted(logs_.size(), "log"), names));
    writer_->say_coverage("calls",
                          CoverageState::kPartial,
                          "strace sees what it was asked for (-e, -f); which calls and processes "
                          "these were, users, CPUs "
                          "and namespaces are not in a log");
    if (!has_durations_) {
        writer_->say_coverage(
            "durations",
            logs_.size() == 1 ? CoverageState::kOff : CoverageState::kPartial,
            logs_.size() == 1
                ? "only of calls that strace tells in two lines: the log is without -T"
                : "up to the thread's next line: the logs are without -T");
    }
    if (!has_decorations_) {
        writer_->say_coverage("descriptors",
                              CoverageState::kPartial,
                              "only of what the log saw being opened, connected or passed on: it "
                              "is without -y or -yy");
    }
    const StraceClock& clock = logs_.front().clock;
    if (!has_times_) {
        writer_->say_coverage("wall clock",
                              CoverageState::kOff,
                              "no times in the log: a microsecond stands for each line");
    } else if (clock.kind() != StraceTime::kEpoch && !options_->day_is_known) {
        writer_->say_coverage("wall clock",
                              CoverageState::kOff,
                              "no date in the log: times are of 1970-01-01; --date says another");
    }
    std::uint64_t steps = 0, largest_ns = 0;
    for (const Log& log : logs_) {
        steps += log.clock.steps_back();
        largest_ns = std::max(largest_ns, log.clock.largest_step_ns());
    }
    if (steps > 0) {
        writer_->say_coverage("import: times",
                              CoverageState::kPartial,
                              fmt::format("{} times of the log are before the line above, by {} ns "
                                          "at most, and stand after it",
                                          steps,
                                          largest_ns));
    }
    for (const Problem& problem : problems_->all()) {
        writer_->say_coverage(problem.loses_event ? "import: lost" : "import: in doubt",
                              CoverageState::kPartial,
                              text_of(problem));
    }
}

}  // namespace dyetrace::importer
