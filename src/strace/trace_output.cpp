#include "strace/trace_output.h"

#include <fnmatch.h>
#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <memory>
#include <utility>

#include "schema/errors.h"

namespace dyetrace::strace {
namespace {

using schema::Attachment;
using schema::SyscallEvent;

bool has(const SyscallEvent& event, std::uint32_t bit) {
    return (event.present & bit) != 0;
}

std::uint64_t end_of(const SyscallEvent& event) {
    return event.start_ns + (has(event, SyscallEvent::kHasDuration) ? event.duration_ns : 0);
}

// Only errors that a program sees; a call that is made again has none yet.
bool has_failed(const SyscallEvent& event) {
    return has(event, SyscallEvent::kHasResult) && event.result < 0 && event.result >= -4095;
}

// What -c adds up: time on a CPU, as strace, or with -w all of it.
std::uint64_t counted_ns(const SyscallEvent& event, const TraceOptions& options) {
    if (!has(event, SyscallEvent::kHasDuration)) {
        return 0;
    }
    const std::uint64_t waited =
        options.wall_clock ? 0 : std::min<std::uint64_t>(event.off_cpu_ns, event.duration_ns);
    return event.duration_ns - waited;
}

// The absolute name, without . and .. as far as the text tells.
std::string joined(std::string_view base, std::string_view path) {
    return (std::filesystem::path(base) / path).lexically_normal().string();
}

}  // namespace

bool TraceSelector::has_status(const SyscallEvent& event) const {
    if (!has(event, SyscallEvent::kHasResult)) {
        return options_.statuses.unfinished;
    }
    return has_failed(event) ? options_.statuses.failed : options_.statuses.successful;
}

bool TraceSelector::is_wanted(std::string_view path) const {
    const std::string text(path);
    return std::any_of(
        options_.paths.begin(), options_.paths.end(), [&](const std::string& wanted) {
            const bool is_glob = wanted.find_first_of("*?[") != std::string::npos;
            return is_glob ? fnmatch(wanted.c_str(), text.c_str(), FNM_PATHNAME) == 0
                           : wanted == text;
        });
}

bool TraceSelector::has_path(const SyscallEvent& event) const {
    const auto* info = schema::find_syscall(static_cast<schema::Abi>(event.abi), event.syscall);
    const bool has_descriptor = info != nullptr && info->arguments[0].type == "dirfd" &&
                                static_cast<std::int32_t>(event.arguments[0]) >= 0;
    const auto is_named = [&](std::uint32_t handle_bit,
                              std::uint32_t base_bit,
                              std::uint32_t handle_id,
                              Attachment kind) {
        const schema::Object* object =
            has(event, handle_bit) ? dictionary_.object(handle_id) : nullptr;
        const std::string* name = object != nullptr ? object->name() : nullptr;
        const auto given = schema::attachment(event, kind);
        if (given && is_wanted(*given)) {
            return true;
        }
        if (name == nullptr) {
            return false;
        }
        return has(event, base_bit) ? (given && is_wanted(joined(*name, *given))) ||
                                          (has_descriptor && is_wanted(*name))
                                    : is_wanted(*name);
    };
    return is_named(SyscallEvent::kHasHandle,
                    SyscallEvent::kHasNamesBase,
                    event.handle_id,
                    Attachment::kPath) ||
           is_named(SyscallEvent::kHasHandle2,
                    SyscallEvent::kHasNamesBase2,
                    event.handle2_id,
                    Attachment::kPath2);
}

bool TraceSelector::is_asked_for(const SyscallEvent& event) const {
    return options_.calls.has(static_cast<schema::Abi>(event.abi), event.syscall) &&
           has_status(event);
}

bool TraceSelector::shows(const SyscallEvent& event) const {
    return is_asked_for(event) && (options_.paths.empty() || has_path(event));
}

bool TraceSelector::waits_for_objects(const SyscallEvent& event) const {
    return !options_.paths.empty() && is_asked_for(event);
}

bool TraceSelector::wants(const schema::EventObject& touched) const {
    const schema::Object* object = dictionary_.object(touched.handle_id);
    const std::string* name = object != nullptr ? object->name() : nullptr;
    return name != nullptr && is_wanted(*name);
}

TraceOutput::TraceOutput(const TraceOptions& options,
                         schema::Dictionary& dictionary,
                         EventPrinter printer,
                         Write write)
    : options_(options),
      dictionary_(dictionary),
      selector_(options, dictionary),
      printer_(std::move(printer)),
      write_(std::move(write)) {}

void TraceOutput::take(std::uint32_t cpu,
                       schema::Stream stream,
                       std::span<const std::byte> records) {
    for (schema::RecordBytes record = schema::first_record(records); !record.empty();
         record = schema::first_record(records)) {
        records = records.subspan(record.size());
        if (const auto* end = schema::as<schema::ThreadEnd>(record)) {
            if (shows(*end)) {
                ends_.push_back(*end);
            }
        } else if (stream == schema::Stream::kFacts) {
            dictionary_.add(record);
        } else if (const auto* event = schema::as<SyscallEvent>(record)) {
            take_call(cpu, *event);
        } else if (const auto* touched = schema::as<schema::EventObject>(record)) {
            take_touched(cpu, *touched);
        } else if (const auto* signal = schema::as<schema::SignalEvent>(record)) {
            take_signal(cpu, *signal);
        }
    }
}

bool TraceOutput::shows(const schema::ThreadEnd& end) const {
    const auto killed_by = static_cast<std::size_t>(WTERMSIG(end.exit_code));
    const bool has_lines =
        options_.form == TraceForm::kLines || options_.form == TraceForm::kLinesAndSummary;
    return has_lines && options_.ends &&
           (killed_by >= options_.signals.size() || killed_by == 0 || options_.signals[killed_by]);
}

void TraceOutput::take_signal(std::uint32_t cpu, const schema::SignalEvent& event) {
    const bool is_chosen =
        event.signal >= options_.signals.size() || options_.signals[event.signal];
    // strace has no line for a SIGKILL but that of the end
    const bool has_line = options_.form != TraceForm::kSummary &&
                          (options_.form == TraceForm::kJson || event.signal != SIGKILL);
    if (is_chosen && has_line) {
        const schema::Task* task = dictionary_.task(event.context_id);
        keep(event.start_ns, task != nullptr ? task->tid : 0, cpu, event.header);
    }
}

void TraceOutput::take_call(std::uint32_t cpu, const SyscallEvent& event) {
    if (!selector_.shows(event)) {
        hidden_ += 1;
        if (selector_.waits_for_objects(event)) {
            std::vector<std::uint64_t>& words = set_aside_[cpu];
            words.resize(event.header.size / sizeof(words[0]));
            std::memcpy(words.data(), &event, event.header.size);
        }
        return;
    }
    show_call(cpu, event);
}

// What a call touches follows it on the same CPU.
void TraceOutput::take_touched(std::uint32_t cpu, const schema::EventObject& touched) {
    const auto at = set_aside_.find(cpu);
    if (at == set_aside_.end() || !selector_.wants(touched)) {
        return;
    }
    const auto* event = schema::as<SyscallEvent>(std::as_bytes(std::span(at->second)));
    if (event == nullptr || event->header.sequence != touched.parent_sequence) {
        return;
    }
    hidden_ -= 1;
    show_call(cpu, *event);
    set_aside_.erase(at);
}

void TraceOutput::show_call(std::uint32_t cpu, const SyscallEvent& event) {
    shown_ += 1;
    if (options_.form == TraceForm::kSummary || options_.form == TraceForm::kLinesAndSummary) {
        const auto* info = schema::find_syscall(static_cast<schema::Abi>(event.abi), event.syscall);
        if (has(event, SyscallEvent::kHasResult)) {  // as strace: not what never returned
            summary_.add(
                info != nullptr ? info->name : "?", has_failed(event), counted_ns(event, options_));
        }
        if (options_.form == TraceForm::kSummary) {
            return;
        }
    }
    const schema::Task* task = dictionary_.task(event.context_id);
    keep(end_of(event), task != nullptr ? task->tid : 0, cpu, event.header);
}

void TraceOutput::keep(std::uint64_t end_ns,
                       std::uint32_t tid,
                       std::uint32_t cpu,
                       const schema::RecordHeader& header) {
    const std::size_t at = words_.size();
    words_.resize(at + header.size / 8);
    std::memcpy(words_.data() + at, &header, header.size);
    waiting_.push_back({end_ns, options_.separately ? tid : 0, cpu, at, header.size});
}

void TraceOutput::flush(std::uint64_t drain_began_ns) {
    std::erase_if(ends_, [&](const schema::ThreadEnd& end) {
        const bool all_before_is_here = end.end_ns < drain_began_ns;
        if (all_before_is_here) {
            keep(end.end_ns, end.tid, 0, end.header);
        }
        return all_before_is_here;
    });
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
        return a.end_ns < b.end_ns;
    });
    for (const Waiting& event : waiting_) {
        printer_(texts_[event.tid],
                 event.cpu,
                 std::as_bytes(std::span(words_)).subspan(event.at * 8, event.bytes));
    }
    for (const auto& [tid, text] : texts_) {
        if (!text.empty()) {
            write_(tid, text);
        }
    }
    texts_.clear();
    words_.clear();
    waiting_.clear();
}

format::CallDetail OptionDetails::of(const schema::SyscallInfo& call,
                                     const SyscallEvent& event) const {
    const auto descriptor = static_cast<std::int32_t>(event.arguments[0]);
    const DescriptorSet& dumped =
        schema::gives_bytes(call) ? options_.dump_writes : options_.dump_reads;
    return {.raw = options_.raw.has(call.abi, call.number),
            .whole = !options_.abbreviated.has(call.abi, call.number),
            .verbose = options_.verbose.has(call.abi, call.number),
            .dump = descriptor >= 0 && dumped.has(descriptor)};
}

EventPrinter line_printer(const format::LineStyle& style, const schema::Dictionary& dictionary) {
    // shared, because a std::function is copied
    auto writer = std::make_shared<format::LineWriter>(style, dictionary);
    return [writer](std::string& out, std::uint32_t, schema::RecordBytes event) {
        if (writer->append(out, event)) {
            out.push_back('\n');
        }
    };
}

}  // namespace dyetrace::strace
