#include "trace/sealed_info.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "trace/codec.h"

namespace dyetrace::trace {
namespace {

// A file per type of record, 100 bytes each.
constexpr std::size_t kSealedInfoBytesMax = 64 * 1024;
constexpr std::string_view kChecksumMember = ",\n  \"checksum\": \"";
constexpr std::size_t kPieceBytes = 256 * 1024;

std::string sealed_info_path(const std::string& folder) {
    return folder + "/segment.json";
}

std::string file_path(const std::string& folder, const std::string& record) {
    return fmt::format("{}/{}.parquet", folder, record);
}

base::Json to_json(const SealedFile& file) {
    return base::Json::object()
        .set("record", file.record)
        .set("rows", file.rows)
        .set("bytes", file.bytes)
        .set("checksum", fmt::format("{:016x}", file.checksum));
}

Result<std::uint64_t> checksum_of(const std::string& digits) {
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, error] = std::from_chars(digits.data(), end, number, 16);
    if (error != std::errc() || at != end) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no checksum", digits));
    }
    return number;
}

Result<SealedFile> file_of(const base::Json& json) {
    SealedFile file;
    std::string digits;
    TRY(json.read(
        "record", file.record, "rows", file.rows, "bytes", file.bytes, "checksum", digits));
    TRY(file.checksum, checksum_of(digits));
    // It becomes a part of a path.
    if (file.record.find('/') != std::string::npos) {
        return Error(ErrorCode::kCorrupt, fmt::format("'{}' is no record", file.record));
    }
    return file;
}

// {…} with one member more, the checksum of all that stands before it.
std::string sealed_text(const std::string& object) {
    const std::string_view open = std::string_view(object).substr(0, object.rfind("\n}"));
    return fmt::format(
        "{}{}{:016x}\"\n}}\n", open, kChecksumMember, checksum(base::bytes_of(open)));
}

Result<void> check_sealed_text(const std::string& text) {
    const std::size_t at = text.rfind(kChecksumMember);
    if (at != std::string::npos && text == sealed_text(text.substr(0, at) + "\n}")) {
        return {};
    }
    return Error(ErrorCode::kCorrupt, "its checksum is wrong");
}

Result<std::uint64_t> checksum_of(const base::Fd& file) {
    std::vector<std::byte> piece(kPieceBytes);
    Checksum sum;
    for (;;) {
        TRY(const std::size_t got, base::read_up_to(file, piece));
        if (got == 0) {
            return sum.value();
        }
        sum.add(std::span(piece).first(got));
    }
}

Result<std::optional<std::string>> find_damage(const std::string& path,
                                               const SealedFile& written,
                                               FileCheck check) {
    TRY(const base::Fd file, base::open_regular_file(path));
    TRY(const std::uint64_t bytes, base::file_size(file));
    if (bytes != written.bytes) {
        return std::optional(fmt::format("{}: {} of {} bytes",
                                         bytes < written.bytes ? "cut" : "changed",
                                         base::with_separators(bytes),
                                         base::with_separators(written.bytes)));
    }
    if (check == FileCheck::kContent) {
        TRY(const std::uint64_t checksum, checksum_of(file));
        if (checksum != written.checksum) {
            return std::optional<std::string>("changed: another checksum");
        }
    }
    return std::optional<std::string>();
}

}  // namespace

Result<void> write_sealed_info(const std::string& sealed_folder, const SealedInfo& info) {
    base::Json files = base::Json::array();
    for (const SealedFile& file : info.files) {
        files.append(to_json(file));
    }
    const base::Json json = base::Json::object()
                                .set("number", info.number)
                                .set("events", info.events)
                                .set("facts", info.facts)
                                .set("begin_ns", info.begin_ns)
                                .set("end_ns", info.end_ns)
                                .set("complete_ns", info.complete_ns)
                                .set("recorder_died", info.recorder_died)
                                .set("columns", fmt::format("{:016x}", info.columns))
                                .set("files", std::move(files));
    return base::write_file_atomically(sealed_info_path(sealed_folder),
                                       sealed_text(json.pretty_text()));
}

Result<SealedInfo> read_sealed_info(const std::string& sealed_folder) {
    TRY(const std::string text,
        base::read_regular_file(sealed_info_path(sealed_folder), kSealedInfoBytesMax));
    TRY(check_sealed_text(text));
    TRY(const base::Json json, base::Json::parse(text));
    SealedInfo info;
    TRY(json.read("number", info.number, "events", info.events, "facts", info.facts));
    TRY(json.read("begin_ns", info.begin_ns, "end_ns", info.end_ns));
    const bool older = json.find("complete_ns") == nullptr;
    TRY(json.read(older ? "last_written_ns" : "complete_ns", info.complete_ns));
    TRY(json.read("recorder_died", info.recorder_died));
    if (const base::Json* const columns = json.find("columns"); columns != nullptr) {
        TRY(info.columns, checksum_of(columns->as<std::string>().value_or("")));
    }
    for (const base::Json& item : json.items_at("files")) {
        TRY(SealedFile file, file_of(item));
        info.files.push_back(std::move(file));
    }
    return info;
}

Result<SealedFile> describe_sealed_file(const std::string& sealed_folder,
                                        const std::string& record,
                                        std::uint64_t rows) {
    TRY(const base::Fd file, base::open_regular_file(file_path(sealed_folder, record)));
    TRY(const std::uint64_t bytes, base::file_size(file));
    TRY(const std::uint64_t checksum, checksum_of(file));
    return SealedFile{record, rows, bytes, checksum};
}

std::optional<std::string> damage_of(const std::string& sealed_folder,
                                     const SealedFile& file,
                                     FileCheck check) {
    auto damage = find_damage(file_path(sealed_folder, file.record), file, check);
    if (damage.ok()) {
        return std::move(damage).value();
    }
    return damage.error().code() == ErrorCode::kNotFound ? "missing" : damage.error().text();
}

}  // namespace dyetrace::trace
