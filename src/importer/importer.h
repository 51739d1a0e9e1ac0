// Logs of other tracers as a trace, whatever they are of.
//
//   TRY(const ImportSummary summary, import_logs({.files = {"zk1.log", "zk2.log"}, .trace_path = "zk.trace"}));
//
// Failure: what cannot be read at all, or has nothing of the format, leaves no trace behind. Lines that cannot be read do not fail it: they are
// counted, in the summary and in the trace.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "importer/log_options.h"
#include "importer/problems.h"

namespace dyetrace::importer {

enum class LogFormat : std::uint8_t { kFalcon, kStrace };

struct ImportQuestion {
    std::vector<std::string> files = {};  // "-": standard input
    std::string trace_path = {};
    std::optional<LogFormat> format = std::nullopt;  // nothing: told by the first file's beginning
    LogOptions options = {};
    std::string program = {};  // for trace.json
    std::vector<std::pair<std::string, std::string>> as_given = {};
};

struct ImportSummary {
    LogFormat format = LogFormat::kFalcon;
    std::uint64_t events = 0;
    std::uint64_t hosts = 0;
    std::uint64_t stored_bytes = 0;
    std::vector<Problem> problems = {};
};

Result<ImportSummary> import_logs(const ImportQuestion& question);

// The first line that is not empty tells: an object or array of JSON is of Falcon, a call or signal is of strace. Nothing: neither.
std::optional<LogFormat> format_of(std::string_view beginning);

}  // namespace dyetrace::importer
