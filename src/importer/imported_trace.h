// The trace that an import makes: of one host a folder like any recording, of several a part for each.
//
//   ImportedTrace trace("old.trace", {{"command", "dyetrace import …"}});
//   trace.use_parts();                                        several hosts, or it cannot be known yet
//   TRY(HostWriter* host, trace.host("web1", wall_offset_ns));
//   TRY(trace.finish());
//
// Limits: trace::kHostsMax hosts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "importer/host_writer.h"
#include "trace/segment_format.h"

namespace dyetrace::importer {

struct ImportTotals {
    std::uint64_t events = 0;
    std::uint64_t stored_bytes = 0;
};

class ImportedTrace {
  public:
    // `options` are said in trace.json. Nothing is made yet.
    ImportedTrace(std::string path,
                  std::string program,
                  std::vector<std::pair<std::string, std::string>> options)
        : path_(std::move(path)), program_(std::move(program)), options_(std::move(options)) {}

    // Before the first host.
    Result<void> use_parts();

    // A host that is not there yet; of a trace without parts the only one. Stays where it is. kLimitReached.
    Result<HostWriter*> add_host(std::string_view name, std::int64_t wall_offset_ns);

    const std::vector<std::unique_ptr<HostWriter>>& hosts() const { return hosts_; }

    Result<ImportTotals> finish();
    // Instead of finish(), where nothing was imported: leaves nothing behind.
    void discard();

  private:
    trace::TraceInfo info() const;

    std::string path_;
    std::string program_;
    std::vector<std::pair<std::string, std::string>> options_;
    std::optional<trace::TraceFolder> whole_;  // of a trace with parts
    std::vector<std::unique_ptr<HostWriter>> hosts_;
};

}  // namespace dyetrace::importer
