#include "store/snapshot.h"

#include <unistd.h>

#include <utility>

#include "trace/sealed_info.h"

namespace dyetrace::store {
namespace {

// The sealer takes a second per segment; a reader that loses the race ten times in a row is not racing.
constexpr int kTriesMax = 10;

trace::SegmentEnd end_of(std::uint64_t number,
                         const trace::SegmentList& list,
                         trace::TraceState state) {
    const bool is_last =
        number == list.recorded.back() && (list.sealed.empty() || number > list.sealed.back());
    if (!is_last || state == trace::TraceState::kFinished) {
        return trace::SegmentEnd::kComplete;
    }
    return state == trace::TraceState::kRecording ? trace::SegmentEnd::kMayGrow
                                                  : trace::SegmentEnd::kRecorderDied;
}

Result<void> open_segments(const trace::TraceFolder& folder,
                           const trace::SegmentList& list,
                           Snapshot& snapshot) {
    for (const std::uint64_t number : list.recorded) {
        const trace::SegmentEnd end = end_of(number, list, snapshot.state);
        TRY(trace::SegmentReader segment,
            trace::SegmentReader::open(folder.segment_path(number), end));
        TRY(segment.verify());
        snapshot.lost.insert(snapshot.lost.end(), segment.lost().begin(), segment.lost().end());
        snapshot.segments.push_back(std::move(segment));
    }
    return {};
}

// The recorder died, its segments are all sealed, and no sealer has said so yet.
void add_unsaid_death(const trace::TraceFolder& folder,
                      const trace::SegmentList& list,
                      Snapshot& snapshot) {
    if (snapshot.state != trace::TraceState::kDied || !list.recorded.empty()) {
        return;
    }
    const std::uint64_t last = list.sealed.empty() ? 0 : list.sealed.back();
    const auto info = trace::read_sealed_info(folder.sealed_path(last));
    if (!info.ok() || !info.value().recorder_died) {
        const std::uint64_t died_ns = info.ok() ? info.value().last_written_ns : 0;
        snapshot.lost.push_back(
            trace::lost_range(died_ns, UINT64_MAX, schema::GapReason::kRecorderDied));
    }
}

Result<Snapshot> try_snapshot(trace::TraceFolder& folder) {
    Snapshot snapshot;
    TRY(snapshot.state, folder.current_state());
    TRY(const trace::SegmentList list, folder.list());
    TRY(open_segments(folder, list, snapshot));
    add_unsaid_death(folder, list, snapshot);
    for (std::size_t i = 0; i < list.missing().size(); ++i) {
        snapshot.lost.push_back(trace::lost_range(0, UINT64_MAX, schema::GapReason::kDamagedBlock));
    }
    if (::access(folder.sealed_path(0).c_str(), F_OK) == 0) {
        snapshot.sealed_folders.push_back(folder.sealed_path(0));
    }
    for (const std::uint64_t number : list.sealed) {
        snapshot.sealed_folders.push_back(folder.sealed_path(number));
    }
    return snapshot;
}

}  // namespace

Result<Snapshot> take_snapshot(trace::TraceFolder& folder) {
    Result<Snapshot> snapshot = try_snapshot(folder);
    for (int tries = 1; tries < kTriesMax; ++tries) {
        if (snapshot.ok() || snapshot.error().code() != ErrorCode::kNotFound) {
            break;
        }
        snapshot = try_snapshot(
            folder);  // a segment was sealed and unlinked between listing and opening it
    }
    return snapshot;
}

std::vector<std::string> parquet_files(const Snapshot& snapshot, const std::string& record) {
    std::vector<std::string> files;
    for (const std::string& folder : snapshot.sealed_folders) {
        const std::string path = folder + "/" + record + ".parquet";
        if (::access(path.c_str(), F_OK) == 0) {
            files.push_back(path);
        }
    }
    return files;
}

}  // namespace dyetrace::store
