#include "store/snapshot.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "store/facts_tables.h"
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

void add_damage(Damage damage, Snapshot& snapshot) {
    snapshot.lost.push_back(damage.lost);
    snapshot.damages.push_back(std::move(damage.text));
}

Result<trace::SegmentReader> open_verified(const trace::TraceFolder& folder,
                                           std::uint64_t number,
                                           trace::SegmentEnd end) {
    TRY(trace::SegmentReader segment, trace::SegmentReader::open(folder.segment_path(number), end));
    TRY(segment.verify());
    return segment;
}

void add_segment(trace::SegmentReader segment, Snapshot& snapshot) {
    snapshot.lost.insert(snapshot.lost.end(), segment.lost().begin(), segment.lost().end());
    snapshot.segments.push_back(std::move(segment));
}

Result<void> open_segments(const trace::TraceFolder& folder,
                           const trace::SegmentList& list,
                           Snapshot& snapshot) {
    for (const std::uint64_t number : list.recorded) {
        const trace::SegmentEnd end = end_of(number, list, snapshot.state);
        Result<trace::SegmentReader> opened = open_verified(folder, number, end);
        if (!opened.ok() && opened.error().code() == ErrorCode::kCorrupt) {
            add_damage(lost_segment(folder, number, "is damaged (its header)"), snapshot);
            continue;
        }
        TRY(trace::SegmentReader segment, std::move(opened));
        add_segment(std::move(segment), snapshot);
    }
    return {};
}

// Parquet files, or the segment that they were made of if they are damaged and it is still there, and whole.
void take_sealed(const trace::TraceFolder& folder,
                 std::uint64_t number,
                 SealedFiles& files,
                 Snapshot& snapshot) {
    const SealedFolder& sealed = files.look(folder, number);
    const trace::SegmentEnd end =
        sealed.recorder_died ? trace::SegmentEnd::kRecorderDied : trace::SegmentEnd::kComplete;
    if (!sealed.damages.empty()) {
        auto segment = open_verified(folder, number, end);
        const std::size_t said_anyway = sealed.recorder_died ? 1 : 0;
        if (segment.ok() && segment.value().lost().size() == said_anyway) {
            return add_segment(std::move(segment).value(), snapshot);
        }
    }
    for (const Damage& damage : sealed.damages) {
        add_damage(damage, snapshot);
    }
    snapshot.sealed.push_back(sealed);
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
        const std::uint64_t died_ns = info.ok() ? info.value().complete_ns : 0;
        snapshot.lost.push_back(
            trace::lost_range(died_ns, UINT64_MAX, schema::GapReason::kRecorderDied));
    }
}

template <typename T>
void append_moved(std::vector<T>& from, std::vector<T>& to) {
    to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

void add_part(Snapshot part, Snapshot& whole) {
    append_moved(part.hosts, whole.hosts);
    append_moved(part.sealed, whole.sealed);
    append_moved(part.segments, whole.segments);
    append_moved(part.lost, whole.lost);
    append_moved(part.damages, whole.damages);
}

Result<Snapshot> snapshot_of_part(trace::TraceFolder& folder, SealedFiles& files) {
    Snapshot snapshot;
    TRY(snapshot.state, folder.current_state());
    snapshot.hosts = folder.info().hosts;
    TRY(const trace::SegmentList list, folder.list());
    TRY(open_segments(folder, list, snapshot));
    add_unsaid_death(folder, list, snapshot);
    for (const std::uint64_t number : list.missing()) {
        add_damage(lost_segment(folder, number, "is missing"), snapshot);
    }
    for (const std::uint64_t number : list.sealed) {
        take_sealed(folder, number, files, snapshot);
    }
    name_host(snapshot.lost, folder);
    return snapshot;
}

Result<Snapshot> try_snapshot(trace::TraceFolder& folder, SealedFiles& files) {
    if (!folder.info().has_parts) {
        return snapshot_of_part(folder, files);
    }
    Snapshot whole;
    TRY(whole.state, folder.current_state());
    TRY(std::vector<trace::TraceFolder> parts, folder.parts());
    for (trace::TraceFolder& part : parts) {
        TRY(Snapshot snapshot, snapshot_of_part(part, files));
        add_part(std::move(snapshot), whole);
    }
    return whole;
}

}  // namespace

bool may_have(const Snapshot& snapshot, const std::string& record) {
    return !snapshot.segments.empty() || !parquet_files(snapshot.sealed, record).empty();
}

std::optional<std::uint64_t> sealed_bytes(const Snapshot& snapshot) {
    std::uint64_t bytes = 0;
    for (const SealedFolder& folder : snapshot.sealed) {
        if (!folder.bytes) {
            return std::nullopt;
        }
        bytes += *folder.bytes;
    }
    return bytes;
}

Result<Snapshot> take_snapshot(trace::TraceFolder& folder, SealedFiles& files) {
    Result<Snapshot> snapshot = try_snapshot(folder, files);
    for (int tries = 1; tries < kTriesMax; ++tries) {
        if (snapshot.ok() || snapshot.error().code() != ErrorCode::kNotFound) {
            break;
        }
        snapshot = try_snapshot(
            folder, files);  // a segment was sealed and unlinked between listing and opening it
    }
    return snapshot;
}

std::vector<AlikeFiles> parquet_files(std::span<const SealedFolder> folders,
                                      const std::string& record) {
    std::vector<AlikeFiles> groups;
    for (const SealedFolder& folder : folders) {
        if (std::find(folder.records.begin(), folder.records.end(), record) ==
            folder.records.end()) {
            continue;
        }
        auto group = std::find_if(groups.begin(), groups.end(), [&](const AlikeFiles& files) {
            return files.columns == folder.columns;
        });
        if (group == groups.end()) {
            group = groups.insert(groups.end(), {folder.columns, {}});
        }
        group->paths.push_back(folder.path + "/" + record + ".parquet");
    }
    return groups;
}

}  // namespace dyetrace::store
