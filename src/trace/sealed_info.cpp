#include "trace/sealed_info.h"

#include "base/file.h"
#include "base/json.h"

namespace dyetrace::trace {
namespace {

constexpr std::size_t kSealedInfoBytesMax = 64 * 1024;

std::string path_in(const std::string& folder) {
    return folder + "/segment.json";
}

}  // namespace

Result<void> write_sealed_info(const std::string& sealed_folder, const SealedInfo& info) {
    const std::string text = base::Json::object()
                                 .set("number", info.number)
                                 .set("events", info.events)
                                 .set("facts", info.facts)
                                 .set("last_written_ns", info.last_written_ns)
                                 .set("recorder_died", info.recorder_died)
                                 .pretty_text();
    return base::write_file_atomically(path_in(sealed_folder), text);
}

Result<SealedInfo> read_sealed_info(const std::string& sealed_folder) {
    TRY(const std::string text, base::read_file(path_in(sealed_folder), kSealedInfoBytesMax));
    TRY(const base::Json json, base::Json::parse(text));
    SealedInfo info;
    TRY(info.number, json.get<std::uint64_t>("number"));
    TRY(info.events, json.get<std::uint64_t>("events"));
    TRY(info.facts, json.get<std::uint64_t>("facts"));
    TRY(info.last_written_ns, json.get<std::uint64_t>("last_written_ns"));
    TRY(info.recorder_died, json.get<bool>("recorder_died"));
    return info;
}

}  // namespace dyetrace::trace
