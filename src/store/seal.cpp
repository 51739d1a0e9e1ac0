#include "store/seal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <initializer_list>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/file.h"
#include "schema/record_info.h"
#include "schema/sql.h"
#include "store/duckdb_engine.h"
#include "store/facts_tables.h"
#include "store/record_scan.h"
#include "store/sealed_files.h"
#include "store/trace_frame.h"
#include "trace/sealed_info.h"

namespace dyetrace::store {
namespace {

// Level 1 and V2's delta encodings: small files for little work. Row groups are DuckDB's own size.
constexpr const char* kParquetOptions =
    "(FORMAT parquet, COMPRESSION zstd, COMPRESSION_LEVEL 1, PARQUET_VERSION V2, ROW_GROUP_SIZE "
    "122880)";

// DuckDB beside a recording: one thread that keeps the order of rows, and less memory than a segment.
const EngineOptions kSealingEngine{
    .threads = 1, .memory_limit = "512MB", .temporary_folder = "", .temporary_limit = ""};

std::string sealing_path(const trace::TraceFolder& folder, std::uint64_t number) {
    return fmt::format("{}/sealing-{:06}", folder.path(), number);
}

Result<void> make_empty_folder(const std::string& path) {
    std::error_code error;
    std::filesystem::remove_all(path, error);
    if (::mkdir(path.c_str(), 0755) != 0) {
        return Error::from_errno(errno, fmt::format("cannot make '{}'", path));
    }
    return {};
}

// Rows written.
Result<std::uint64_t> copy_to_parquet(const Engine& engine,
                                      const std::string& select,
                                      const std::string& path) {
    return engine.run_counted(
        fmt::format("COPY ({}) TO {} {}", select, sql_text(path), kParquetOptions));
}

Result<void> put_in_place(const std::string& unfinished, const std::string& path) {
    if (::rename(unfinished.c_str(), path.c_str()) != 0) {
        return Error::from_errno(errno, fmt::format("cannot put '{}' in its place", path));
    }
    return {};
}

// <record>.parquet, and what segment.json says of it.
Result<trace::SealedFile> write_file(const Engine& engine,
                                     const std::string& select,
                                     const std::string& folder,
                                     const std::string& record) {
    TRY(const std::uint64_t rows,
        copy_to_parquet(engine, select, fmt::format("{}/{}.parquet", folder, record)));
    return trace::describe_sealed_file(folder, record, rows);
}

// The order is host, CPU and sequence: neighbours in the file are neighbours in time, and their numbers differ little.
RecordSource ordered_source(const trace::SegmentReader& segment) {
    RecordSource source;
    for (const trace::BlockHeader& block : segment.blocks()) {
        source.blocks.push_back({&segment, block});
    }
    const auto key = [](const ScanBlock& block) {
        return std::tuple(block.header.host_index, block.header.cpu, block.header.first_sequence);
    };
    std::stable_sort(source.blocks.begin(),
                     source.blocks.end(),
                     [&](const ScanBlock& a, const ScanBlock& b) { return key(a) < key(b); });
    return source;
}

Result<std::vector<trace::SealedFile>> write_tables(const Engine& engine,
                                                    const RecordSource& source,
                                                    bool has_lost,
                                                    const std::string& folder) {
    std::vector<trace::SealedFile> files;
    std::uint64_t types = 0;
    for (const ScanBlock& block : source.blocks) {
        types |= block.header.record_types;
    }
    for (const schema::RecordInfo& info : schema::records()) {
        const bool has_rows =
            (types & trace::record_type_bit(static_cast<std::uint16_t>(info.id))) != 0;
        const bool is_gap = info.id == schema::RecordId::kGap;
        if (!has_rows && !(is_gap && has_lost)) {
            continue;
        }
        std::string select = fmt::format("SELECT * FROM _records('{}')", info.name);
        select += is_gap && has_lost ? " UNION ALL SELECT * FROM internal.live_gap" : "";
        TRY(trace::SealedFile file, write_file(engine, select, folder, info.name));
        files.push_back(std::move(file));
    }
    return files;
}

// What segment.json says of the segment itself.
trace::SealedInfo describe(const trace::SegmentReader& segment,
                           std::uint64_t number,
                           const RecordSource& source) {
    trace::SealedInfo info;
    info.columns = current_columns();
    info.number = number;
    info.complete_ns = segment.complete_ns();
    for (const ScanBlock& block : source.blocks) {
        (block.header.stream == 0 ? info.events : info.facts) += block.header.record_count;
        info.begin_ns = std::min(info.begin_ns, block.header.begin_ns);
        info.end_ns = std::max(info.end_ns, block.header.end_ns);
    }
    return info;
}

Result<void> write_frame_file(const FrameFile& file, const std::string& path) {
    TRY(const base::Fd out, base::open_file(path, O_WRONLY | O_CREAT | O_TRUNC));
    return base::write_all(out, std::as_bytes(std::span(file.bytes)))
        .with_context(fmt::format("writing '{}'", path));
}

// Beside the segments: the hosts, the names of calls and flags, and `views` over all. A reader finds each whole or not at all.
Result<void> write_frame_files(const Engine& engine,
                               const std::string& folder,
                               const std::vector<trace::Host>& hosts,
                               const std::string& views) {
    TRY(base::write_file_atomically(folder + "/views.sql", views));
    for (const FrameFile& file : trace_frame()) {
        if (file.kind == FrameFile::Kind::kLabels) {
            const std::string path = fmt::format("{}/{}", folder, file.name);
            TRY(write_frame_file(file, path + ".new"));
            TRY(put_in_place(path + ".new", path));
        }
    }
    const std::string path = folder + "/hosts.parquet";
    TRY(make_hosts_table(engine, hosts));
    TRY(copy_to_parquet(engine, "FROM internal.hosts", path + ".new"));
    return put_in_place(path + ".new", path);
}

// sealed-000000, if it is not there yet.
Result<void> write_empty_tables(const trace::TraceFolder& folder,
                                std::initializer_list<FrameFile::Kind> kinds) {
    if (std::filesystem::exists(folder.sealed_path(0))) {
        return {};
    }
    const std::string sealing = sealing_path(folder, 0);
    TRY(make_empty_folder(sealing));
    for (const FrameFile& file : trace_frame()) {
        if (std::find(kinds.begin(), kinds.end(), file.kind) != kinds.end()) {
            TRY(write_frame_file(file, fmt::format("{}/{}", sealing, file.name)));
        }
    }
    return put_in_place(sealing, folder.sealed_path(0));
}

// The views of a trace of one host, a folder higher.
std::string views_over_parts() {
    constexpr std::string_view kSealed = "'sealed-*/", kOfParts = "'host-*/sealed-*/";
    std::string views = schema::views_sql();
    for (std::size_t at = 0; (at = views.find(kSealed, at)) != std::string::npos;
         at += kOfParts.size()) {
        views.replace(at, kSealed.size(), kOfParts);
    }
    return views;
}

bool is_whole(const std::string& segment_path) {
    auto segment = trace::SegmentReader::open(segment_path, trace::SegmentEnd::kMayGrow);
    return segment.ok() && segment.value().verify().ok() && segment.value().lost().empty();
}

std::uint64_t bytes_in(const std::string& folder) {
    std::uint64_t bytes = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        bytes += entry.file_size(error);
    }
    return bytes;
}

}  // namespace

Result<Sealer> Sealer::start(trace::TraceFolder folder) {
    const std::string lock_path = folder.path() + "/sealer";
    TRY(base::Fd lock, base::open_file(lock_path, O_RDWR | O_CREAT));
    if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK) {
            return Error(ErrorCode::kUnavailable,
                         fmt::format("another sealer works on '{}'", folder.path()));
        }
        return Error::from_errno(errno, fmt::format("cannot lock '{}'", lock_path));
    }
    Sealer sealer(std::move(folder), std::move(lock));
    TRY(sealer.remove_leftovers());
    if (Result<void> written = sealer.write_frame(); !written.ok()) {
        (void)sealer.remove_leftovers();
        return std::move(written).error();
    }
    return sealer;
}

Result<void> Sealer::remove_leftovers() const {
    TRY(const std::vector<std::string> names, base::list_folder(folder_.path()));
    for (const std::string& name : names) {
        if (name.starts_with("sealing-") || name.ends_with(".parquet.new")) {
            std::error_code error;
            std::filesystem::remove_all(folder_.path() + "/" + name, error);
        }
    }
    TRY(const trace::SegmentList list, folder_.list());
    SealedFiles files(UINT64_MAX);
    for (const std::uint64_t number : list.sealed) {
        if (::access(folder_.segment_path(number).c_str(), F_OK) == 0) {
            keep_better_copy(files.look(folder_, number), number);
        }
    }
    return {};
}

// Both the segment and its Parquet files are there. Damaged files are thrown away, so that they are made again.
void Sealer::keep_better_copy(const SealedFolder& sealed, std::uint64_t number) const {
    const std::string segment = folder_.segment_path(number);
    if (sealed.damages.empty()) {
        ::unlink(segment.c_str());
    } else if (is_whole(segment)) {
        std::error_code error;
        std::filesystem::rename(sealed.path, sealing_path(folder_, number), error);
        std::filesystem::remove_all(sealing_path(folder_, number), error);
    }
}

Result<void> Sealer::write_frame() {
    TRY(Engine engine, Engine::open(kSealingEngine));
    first_engine_ = std::make_shared<const Engine>(std::move(engine));
    TRY(write_frame_files(
        *first_engine_, folder_.path(), folder_.info().hosts, schema::views_sql()));
    return write_empty_tables(folder_, {FrameFile::Kind::kRecords, FrameFile::Kind::kDerived});
}

Result<void> write_frame_of_parts(const trace::TraceFolder& folder,
                                  const std::vector<trace::Host>& hosts) {
    TRY(const Engine engine, Engine::open(kSealingEngine));
    TRY(write_frame_files(engine, folder.path(), hosts, views_over_parts()));
    return write_empty_tables(folder, {FrameFile::Kind::kDerived});
}

Result<SealedSegment> Sealer::seal(std::uint64_t number, trace::SegmentEnd end) {
    Result<SealedSegment> sealed = write_sealed(number, end);
    if (!sealed.ok()) {
        (void)remove_leftovers();
    }
    return sealed;
}

Result<SealedSegment> Sealer::write_sealed(std::uint64_t number, trace::SegmentEnd end) {
    TRY(trace::SegmentReader segment,
        trace::SegmentReader::open(folder_.segment_path(number), end));
    TRY(segment.verify());
    const RecordSource source = ordered_source(segment);
    std::shared_ptr<const Engine> opened = std::move(first_engine_);
    if (!opened) {
        TRY(Engine another, Engine::open(kSealingEngine));
        opened = std::make_shared<const Engine>(std::move(another));
    }
    const Engine& engine = *opened;
    TRY(register_record_scan(engine, source));
    std::vector<trace::LostRange> lost = segment.lost();
    name_host(lost, folder_);
    if (!lost.empty()) {
        TRY(engine.run(schema::live_tables_sql()));
        TRY(insert_gaps(engine, lost));
    }
    const std::string sealing = sealing_path(folder_, number);
    TRY(make_empty_folder(sealing));
    trace::SealedInfo info = describe(segment, number, source);
    info.recorder_died = end == trace::SegmentEnd::kRecorderDied;
    TRY(info.files, write_tables(engine, source, !lost.empty(), sealing));
    const SealedSegment sealed{info.events, info.facts, bytes_in(sealing)};
    TRY(trace::write_sealed_info(sealing, info));
    TRY(commit(sealing, number));
    totals_.events += sealed.events;
    totals_.facts += sealed.facts;
    totals_.parquet_bytes += sealed.parquet_bytes;
    return sealed;
}

// From here on readers take the Parquet files; the segment is only bytes.
Result<void> Sealer::commit(const std::string& from, std::uint64_t number) const {
    if (::rename(from.c_str(), folder_.sealed_path(number).c_str()) != 0) {
        return Error::from_errno(
            errno, fmt::format("cannot put '{}' in its place", folder_.sealed_path(number)));
    }
    if (number > 0) {
        ::unlink(folder_.segment_path(number).c_str());
    }
    return {};
}

Result<trace::TraceState> Sealer::seal_what_is_there(const MaySeal& may_seal, Abandoned abandoned) {
    TRY(trace::TraceState state, folder_.current_state());
    if (state == trace::TraceState::kDied && abandoned == Abandoned::kMayCarryOn) {
        state = trace::TraceState::kRecording;
    }
    TRY(const trace::SegmentList list, folder_.list());
    const std::uint64_t last_sealed = list.sealed.empty() ? 0 : list.sealed.back();
    const bool new_death =
        state == trace::TraceState::kDied && folder_.info().state == trace::TraceState::kRecording;
    std::size_t waiting = list.recorded.size();
    for (const std::uint64_t number : list.recorded) {
        --waiting;  // the last one is not complete
        const bool is_last = number == list.recorded.back() && number > last_sealed;
        if (is_last && state == trace::TraceState::kRecording) {
            break;
        }
        if (state == trace::TraceState::kRecording) {
            if (!may_seal(waiting)) {
                break;
            }
            TRY(leave_room_to_the_recorder(number));
        }
        const bool is_cut = is_last && state == trace::TraceState::kDied;
        auto sealed =
            seal(number, is_cut ? trace::SegmentEnd::kRecorderDied : trace::SegmentEnd::kComplete);
        // A damaged segment stays as it is, and readers say so; the others are worth sealing.
        if (!sealed.ok() && sealed.error().code() != ErrorCode::kCorrupt) {
            return std::move(sealed).error();
        }
    }
    if (new_death) {
        TRY(const trace::SegmentList sealed, folder_.list());
        TRY(seal_death(sealed.sealed.empty() ? 0 : sealed.sealed.back()));
        TRY(folder_.mark_died());
    }
    return state;
}

// Parquet files are hardly larger than their segment; as much again is for the recorder meanwhile, which a full disk ends.
Result<void> Sealer::leave_room_to_the_recorder(std::uint64_t number) const {
    std::error_code error;
    const std::uint64_t segment = std::filesystem::file_size(folder_.segment_path(number), error);
    const std::filesystem::space_info disk = std::filesystem::space(folder_.path(), error);
    if (!error && disk.available < 2 * segment) {
        return Error(ErrorCode::kLimitReached,
                     fmt::format("{} bytes are free, Parquet of '{}' may need {}",
                                 disk.available,
                                 folder_.segment_path(number),
                                 segment));
    }
    return {};
}

// The recorder died after its last segment was sealed: the gap gets a number of its own.
Result<void> Sealer::seal_death(std::uint64_t last_number) {
    const auto last = trace::read_sealed_info(folder_.sealed_path(last_number));
    const std::uint64_t died_ns = last.ok() ? last.value().complete_ns : 0;
    if (last.ok() && last.value().recorder_died) {
        return {};
    }
    TRY(const Engine engine, Engine::open(kSealingEngine));
    TRY(engine.run(schema::live_tables_sql()));
    std::vector<trace::LostRange> lost = {
        trace::lost_range(died_ns, UINT64_MAX, schema::GapReason::kRecorderDied)};
    name_host(lost, folder_);
    TRY(insert_gaps(engine, lost));
    const std::string sealing = sealing_path(folder_, last_number + 1);
    TRY(make_empty_folder(sealing));
    trace::SealedInfo info;
    info.columns = current_columns();
    info.number = last_number + 1;
    info.complete_ns = died_ns;
    info.recorder_died = true;
    TRY(trace::SealedFile file,
        write_file(engine, "SELECT * FROM internal.live_gap", sealing, "gap"));
    info.files.push_back(std::move(file));
    TRY(trace::write_sealed_info(sealing, info));
    return commit(sealing, last_number + 1);
}

}  // namespace dyetrace::store
