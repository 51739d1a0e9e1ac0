#include "importer/importer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "importer/falcon_import.h"
#include "importer/imported_trace.h"
#include "importer/strace_import.h"
#include "importer/strace_line.h"
#include "importer/text_input.h"

namespace dyetrace::importer {
namespace {

constexpr std::size_t kLinesLookedAt = 100;  // strace may talk first

Result<LogFormat> find_format(const ImportQuestion& question, TextInput& input) {
    if (question.format) {
        return *question.format;
    }
    if (input.rest().empty()) {
        TRY(const bool more, input.read_more());
        if (!more) {
            return Error(ErrorCode::kCorrupt, fmt::format("{} is empty", input.name()));
        }
    }
    if (const auto format = format_of(input.rest())) {
        return *format;
    }
    return Error(ErrorCode::kCorrupt,
                 fmt::format("{} begins like no log of Falcon or strace; --format says which it is",
                             input.name()));
}

Result<void> read_falcon(const ImportQuestion& question,
                         std::vector<TextInput>& inputs,
                         ImportedTrace& trace,
                         Problems& problems) {
    FalconImport falcon(trace, problems, question.options);
    for (TextInput& input : inputs) {
        TRY(falcon.read(input));
    }
    return falcon.finish();
}

Result<void> read_strace(const ImportQuestion& question,
                         std::vector<TextInput>& inputs,
                         ImportedTrace& trace,
                         Problems& problems) {
    StraceImport strace(trace, problems, question.options);
    TRY(strace.read(std::move(inputs)));
    return strace.finish();
}

}  // namespace

std::optional<LogFormat> format_of(std::string_view beginning) {
    if (beginning.starts_with("\xef\xbb\xbf")) {
        beginning.remove_prefix(3);
    }
    for (std::size_t i = 0; i < kLinesLookedAt && !beginning.empty(); ++i) {
        const std::size_t end = std::min(beginning.find('\n'), beginning.size());
        const std::string_view line = beginning.substr(0, end);
        beginning.remove_prefix(std::min(end + 1, beginning.size()));
        const std::size_t text = line.find_first_not_of(" \t\r");
        if (text == std::string_view::npos) {
            continue;
        }
        const std::string_view words = line.substr(text);
        if (words.starts_with('{') || (words.starts_with('[') && !words.starts_with("[pid ") &&
                                       words.find_first_not_of("[ \t\r{") != 1)) {
            return LogFormat::kFalcon;
        }
        const StraceKind kind = parse_strace_line(line).kind;
        if (kind != StraceKind::kUnreadable && kind != StraceKind::kMessage) {
            return LogFormat::kStrace;
        }
    }
    return std::nullopt;
}

Result<ImportSummary> import_logs(const ImportQuestion& question) {
    std::vector<TextInput> inputs;
    for (const std::string& file : question.files) {
        TRY(TextInput input, TextInput::open(file));
        inputs.push_back(std::move(input));
    }
    if (inputs.empty()) {
        return Error(ErrorCode::kInvalidArgument, "no log to import");
    }
    ImportSummary summary;
    TRY(summary.format, find_format(question, inputs.front()));
    ImportedTrace trace(question.trace_path, question.program, question.as_given);
    Problems problems;
    const bool is_falcon = summary.format == LogFormat::kFalcon;
    const Result<void> done = is_falcon ? read_falcon(question, inputs, trace, problems)
                                        : read_strace(question, inputs, trace, problems);
    if (!done.ok() && done.error().code() == ErrorCode::kCorrupt) {
        trace.discard();
        return done.error();
    }
    if (!done.ok()) {
        return Error(done.error())
            .with_context(fmt::format("the import into '{}' ends early", question.trace_path));
    }
    TRY(const ImportTotals totals, trace.finish());
    summary.events = totals.events;
    summary.stored_bytes = totals.stored_bytes;
    summary.hosts = trace.hosts().size();
    summary.problems = problems.all();
    return summary;
}

}  // namespace dyetrace::importer
