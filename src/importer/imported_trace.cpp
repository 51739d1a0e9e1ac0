#include "importer/imported_trace.h"

#include <fmt/format.h>

#include "base/check.h"

namespace dyetrace::importer {

trace::TraceInfo ImportedTrace::info() const {
    trace::TraceInfo info;
    info.program = program_;
    info.options = options_;
    return info;
}

Result<void> ImportedTrace::use_parts() {
    CHECK(hosts_.empty());
    trace::TraceInfo whole = info();
    whole.has_parts = true;
    TRY(whole_, trace::TraceFolder::create(path_, std::move(whole)));
    return {};
}

Result<HostWriter*> ImportedTrace::add_host(std::string_view name, std::int64_t wall_offset_ns) {
    CHECK(whole_ || hosts_.empty());
    if (hosts_.size() == trace::kHostsMax) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("the log speaks of more than {} hosts", trace::kHostsMax));
    }
    const auto index = static_cast<std::uint16_t>(hosts_.size());
    trace::TraceInfo of_host = info();
    of_host.hosts.push_back({.index = index,
                             .name = std::string(name),
                             .boot_id = fmt::format("imported-{}", index),
                             .kernel = "",
                             .machine = "",
                             .cpus = 1,
                             .wall_offset_ns = wall_offset_ns});
    TRY(HostWriter writer,
        HostWriter::create(whole_ ? whole_->part_path(index) : path_, std::move(of_host)));
    hosts_.push_back(std::make_unique<HostWriter>(std::move(writer)));
    return hosts_.back().get();
}

Result<ImportTotals> ImportedTrace::finish() {
    ImportTotals totals;
    for (const auto& host : hosts_) {
        TRY(const trace::SegmentWriterTotals written, host->finish());
        totals.events += host->events();
        totals.stored_bytes += written.stored_bytes;
    }
    if (whole_) {
        TRY(whole_->finish());
    }
    return totals;
}

void ImportedTrace::discard() {
    for (const auto& host : hosts_) {
        host->discard();
    }
    if (whole_) {
        whole_->discard();
    }
}

}  // namespace dyetrace::importer
