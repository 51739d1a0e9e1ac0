#include "store/sealed_files.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/text.h"
#include "schema/record_info.h"
#include "trace/codec.h"
#include "trace/sealed_info.h"

namespace dyetrace::store {
namespace {

constexpr std::string_view kSuffix = ".parquet";
constexpr std::string_view kMagic = "PAR1";
// Magic, a footer, its size and magic again.
constexpr std::uint64_t kParquetBytesMin = 12;

const schema::RecordInfo* find_record(std::string_view name) {
    const auto records = schema::records();
    const auto found = std::find_if(
        records.begin(), records.end(), [&](const auto& info) { return name == info.name; });
    return found == records.end() ? nullptr : &*found;
}

// How many events a file of `rows` rows costs; UINT64_MAX: nobody knows.
std::uint64_t events_lost(std::string_view record, std::optional<std::uint64_t> rows) {
    const schema::RecordInfo* const info = find_record(record);
    if (info != nullptr && info->stream == schema::Stream::kEvents) {
        return rows.value_or(UINT64_MAX);
    }
    // Without its gaps it is not known what else a segment lacks.
    return info != nullptr && info->id == schema::RecordId::kGap ? UINT64_MAX : 0;
}

std::string missing_text(std::string_view record, std::optional<std::uint64_t> rows) {
    const schema::RecordInfo* const info = find_record(record);
    if (info != nullptr && info->stream == schema::Stream::kEvents) {
        return rows ? base::with_separators(*rows) + " events" : "events";
    }
    if (record == "handle") {
        return "paths and objects";
    }
    if (record == "task_context") {
        return "the processes";
    }
    return rows ? fmt::format("{} rows of '{}'", base::with_separators(*rows), record)
                : fmt::format("rows of '{}'", record);
}

// " from 2026-11-21 18:20:01 to 18:20:07 UTC" or " at 2026-11-21 18:20:01 UTC", if that is known.
std::string range_text(const trace::TraceFolder& folder, const trace::SealedInfo& info) {
    if (info.begin_ns >= info.end_ns || folder.info().hosts.empty()) {
        return {};
    }
    const auto second_of = [&](std::uint64_t boot_ns) {
        const auto wall_ns =
            boot_ns + static_cast<std::uint64_t>(folder.info().hosts.front().wall_offset_ns);
        return static_cast<std::time_t>(static_cast<std::int64_t>(wall_ns) / 1'000'000'000);
    };
    const std::time_t begin = second_of(info.begin_ns);
    const std::time_t end = second_of(info.end_ns);
    return begin == end ? fmt::format(" at {:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(begin))
                        : fmt::format(" from {:%Y-%m-%d %H:%M:%S} to {:%H:%M:%S} UTC",
                                      fmt::gmtime(begin),
                                      fmt::gmtime(end));
}

// A folder without a usable segment.json is judged by what every Parquet file has.
std::optional<std::string> frame_damage(const std::string& path) {
    const auto file = base::open_regular_file(path);
    const auto bytes = file.ok() ? base::file_size(file.value()) : Result<std::uint64_t>(0);
    if (!file.ok() || !bytes.ok()) {
        return (file.ok() ? bytes.error() : file.error()).text();
    }
    if (bytes.value() < kParquetBytesMin) {
        return fmt::format("cut: {} bytes", bytes.value());
    }
    std::array<char, 8> front{};
    std::array<char, 8> back{};
    const auto got_front =
        base::read_up_to_at(file.value(), std::as_writable_bytes(std::span(front)), 0);
    const auto got_back = base::read_up_to_at(
        file.value(), std::as_writable_bytes(std::span(back)), bytes.value() - back.size());
    std::uint32_t footer = 0;
    std::memcpy(&footer, back.data(), sizeof(footer));
    const bool whole = got_front.ok() && got_back.ok() &&
                       std::string_view(front.data(), 4) == kMagic &&
                       std::string_view(back.data() + 4, 4) == kMagic &&
                       footer + kParquetBytesMin <= bytes.value();
    return whole ? std::nullopt
                 : std::optional<std::string>("cut or changed: it does not end as Parquet does");
}

Damage damaged_file(const trace::TraceFolder& folder,
                    const std::string& path,
                    const trace::SealedFile& file,
                    std::optional<std::uint64_t> rows,
                    const trace::SealedInfo& info,
                    const std::string& what) {
    Damage damage;
    damage.lost = trace::lost_range(info.begin_ns == UINT64_MAX ? 0 : info.begin_ns,
                                    info.end_ns == 0 ? UINT64_MAX : info.end_ns,
                                    schema::GapReason::kDamagedFile);
    damage.lost.gap.lost = events_lost(file.record, rows);
    damage.text = fmt::format(
        "'{}/{}{}' is damaged ({}): {}{} cannot be read, all else can; to mend it, put a copy in "
        "its place",
        path,
        file.record,
        kSuffix,
        what,
        missing_text(file.record, rows),
        range_text(folder, info));
    return damage;
}

// What lies in a folder whose segment.json is of no use.
std::vector<trace::SealedFile> files_in(const std::string& path) {
    std::vector<trace::SealedFile> files;
    const auto names = base::list_folder(path);
    for (const std::string& name : names.ok() ? names.value() : std::vector<std::string>()) {
        if (name.ends_with(kSuffix)) {
            files.push_back({name.substr(0, name.size() - kSuffix.size()), 0, 0, 0});
        }
    }
    return files;
}

Damage unusable_info(const std::string& path, const Error& error) {
    Damage damage;
    damage.lost = trace::lost_range(0, UINT64_MAX, schema::GapReason::kDamagedFile);
    damage.text = fmt::format(
        "'{}/segment.json' is damaged ({}): the files beside it are read, but damage in them may "
        "go unnoticed; to mend it, put a copy in its place",
        path,
        error.code() == ErrorCode::kNotFound ? "missing" : error.text());
    return damage;
}

std::uint64_t digest_of_columns() {
    std::string text;
    for (const schema::RecordInfo& info : schema::records()) {
        text += info.name;
        for (const schema::ColumnInfo& column : info.columns) {
            text += fmt::format(" {}:{}", column.name, static_cast<int>(column.type));
        }
        text += '\n';
    }
    return trace::checksum(base::bytes_of(text));
}

}  // namespace

std::uint64_t current_columns() {
    static const std::uint64_t kColumns = digest_of_columns();
    return kColumns;
}

SealedFolder SealedFiles::check(const trace::TraceFolder& folder, std::uint64_t number) {
    SealedFolder checked;
    checked.path = folder.sealed_path(number);
    const auto read = trace::read_sealed_info(checked.path);
    const trace::SealedInfo info = read.ok() ? read.value() : trace::SealedInfo();
    checked.recorder_died = info.recorder_died;
    checked.events = info.events;
    checked.columns = info.columns;
    if (!read.ok()) {
        checked.damages.push_back(unusable_info(checked.path, read.error()));
    } else {
        checked.bytes = std::accumulate(
            info.files.begin(),
            info.files.end(),
            std::uint64_t{0},
            [](std::uint64_t sum, const trace::SealedFile& file) { return sum + file.bytes; });
    }
    for (const trace::SealedFile& file : read.ok() ? info.files : files_in(checked.path)) {
        const bool in_content = file.bytes <= unchecked_bytes_;
        unchecked_bytes_ -= in_content ? file.bytes : 0;
        const std::optional<std::string> what =
            read.ok() ? trace::damage_of(
                            checked.path,
                            file,
                            in_content ? trace::FileCheck::kContent : trace::FileCheck::kSize)
                      : frame_damage(fmt::format("{}/{}{}", checked.path, file.record, kSuffix));
        if (!what) {
            checked.records.push_back(file.record);
            continue;
        }
        const auto rows = read.ok() ? std::optional(file.rows) : std::nullopt;
        checked.damages.push_back(damaged_file(folder, checked.path, file, rows, info, *what));
    }
    return checked;
}

const SealedFolder& SealedFiles::look(const trace::TraceFolder& folder, std::uint64_t number) {
    std::string path = folder.sealed_path(number);
    const auto known = known_.find(path);
    return known != known_.end()
               ? known->second
               : known_.emplace(std::move(path), check(folder, number)).first->second;
}

Damage lost_segment(const trace::TraceFolder& folder,
                    std::uint64_t number,
                    const std::string& what) {
    Damage damage;
    const auto before = trace::read_sealed_info(folder.sealed_path(number - 1));
    damage.lost = trace::lost_range(
        before.ok() ? before.value().complete_ns : 0, UINT64_MAX, schema::GapReason::kDamagedFile);
    damage.text = fmt::format(
        "segment {} of '{}' {}: its events cannot be read, all else can; to mend it, put a copy of "
        "'{}' in its place",
        number,
        folder.path(),
        what,
        std::filesystem::path(folder.segment_path(number)).filename().string());
    return damage;
}

}  // namespace dyetrace::store
