#include "apps/trace_output.h"

#include <fnmatch.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "schema/errors.h"

namespace dyetrace::apps {
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

std::string joined(std::string_view base, std::string_view path) {
    std::string whole(base == "/" ? "" : base);
    return whole.append("/").append(path);
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
        return has(event, base_bit) ? given && is_wanted(joined(*name, *given)) : is_wanted(*name);
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

bool TraceSelector::shows(const SyscallEvent& event) const {
    return options_.calls.has(static_cast<schema::Abi>(event.abi), event.syscall) &&
           has_status(event) && (options_.paths.empty() || has_path(event));
}

TraceOutput::TraceOutput(const TraceOptions& options,
                         schema::Dictionary& dictionary,
                         EventPrinter printer,
                         std::function<void(std::string_view)> write)
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
        if (stream == schema::Stream::kFacts) {
            dictionary_.add(record);
        } else if (const auto* event = schema::as<SyscallEvent>(record)) {
            keep(cpu, *event);
        }
    }
}

void TraceOutput::keep(std::uint32_t cpu, const SyscallEvent& event) {
    if (!selector_.shows(event)) {
        hidden_ += 1;
        return;
    }
    shown_ += 1;
    if (options_.form == TraceForm::kSummary || options_.form == TraceForm::kLinesAndSummary) {
        const auto* info = schema::find_syscall(static_cast<schema::Abi>(event.abi), event.syscall);
        summary_.add(info != nullptr ? info->name : "?",
                     has_failed(event),
                     has(event, SyscallEvent::kHasDuration) ? event.duration_ns : 0);
        if (options_.form == TraceForm::kSummary) {
            return;
        }
    }
    const std::size_t at = words_.size();
    words_.resize(at + event.header.size / 8);
    std::memcpy(words_.data() + at, &event, event.header.size);
    waiting_.push_back({end_of(event), cpu, at, event.header.size});
}

void TraceOutput::flush() {
    std::stable_sort(waiting_.begin(), waiting_.end(), [](const Waiting& a, const Waiting& b) {
        return a.end_ns < b.end_ns;
    });
    for (const Waiting& event : waiting_) {
        printer_(
            text_, event.cpu, std::as_bytes(std::span(words_)).subspan(event.at * 8, event.bytes));
    }
    if (!text_.empty()) {
        write_(text_);
    }
    text_.clear();
    words_.clear();
    waiting_.clear();
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

}  // namespace dyetrace::apps
