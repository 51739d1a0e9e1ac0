#include "query/payload/trace_payload.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "schema/dictionary.h"
#include "trace/trace_folder.h"

namespace dyetrace::query {

Result<TracePayload> TracePayload::open(const std::string& trace_path) {
    TRY(const trace::TraceFolder folder, trace::TraceFolder::open(trace_path));
    TRY(const std::vector<trace::TraceFolder> parts, folder.parts());
    std::vector<File> files;
    for (const trace::TraceFolder& part : parts) {
        auto reader = trace::PayloadReader::open(part.path());
        if (!reader.ok() && reader.error().code() == ErrorCode::kNotFound) {
            continue;
        }
        TRY(trace::PayloadReader opened, std::move(reader));
        files.push_back({part.host_index(), std::move(opened)});
    }
    if (files.empty()) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("the trace '{}' has no payload: record --content=bytes keeps it",
                                 trace_path));
    }
    return TracePayload(std::move(files));
}

Result<void> TracePayload::scan(const std::function<void(std::uint64_t, const PayloadPart&)>& each,
                                const std::atomic<bool>* cancelled) {
    for (std::uint32_t i = 0; i < files_.size(); ++i) {
        TRY(files_[i].reader.scan(
            [&](const trace::PayloadEntry& entry, const trace::PayloadPlace& place) {
                each(schema::event_id(files_[i].host_index, entry.cpu, entry.sequence),
                     {entry.position, place, i});
            },
            cancelled));
    }
    return {};
}

std::uint64_t TracePayload::damaged_blocks() const {
    std::uint64_t damaged = 0;
    for (const File& file : files_) {
        damaged += file.reader.damaged_blocks();
    }
    return damaged;
}

bool TracePayload::is_complete() const {
    return std::all_of(files_.begin(), files_.end(), [](const File& file) {
        return file.reader.totals().has_value();
    });
}

std::uint64_t TracePayload::redacted_bytes() const {
    std::uint64_t redacted = 0;
    for (const File& file : files_) {
        redacted += file.reader.totals() ? file.reader.totals()->redacted : 0;
    }
    return redacted;
}

}  // namespace dyetrace::query
