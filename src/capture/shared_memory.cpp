#include "capture/shared_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "base/clock.h"

namespace dyetrace::capture {

Result<void> find_shared_memory(const bpf_program* program,
                                IteratorScope scope,
                                std::vector<schema::SharedMapping>& found) {
    std::vector<std::byte> written;
    TRY(run_iterator(program, scope, &written));
    const auto now_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    // a file may be mapped in many parts
    std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t>, schema::SharedMapping> files;
    schema::SharedMapping mapping{};
    for (std::size_t at = 0; at + sizeof(mapping) <= written.size(); at += sizeof(mapping)) {
        std::memcpy(&mapping, written.data() + at, sizeof(mapping));
        mapping.time_ns = now_ns;
        schema::SharedMapping& file =
            files.try_emplace({mapping.pid, mapping.device, mapping.inode}, mapping).first->second;
        file.is_writable |= mapping.is_writable;
    }
    for (const auto& [key, file] : files) {
        found.push_back(file);
    }
    return {};
}

bool has_segments(pid_t process) {
    std::ifstream maps(fmt::format("/proc/{}/maps", process));
    for (std::string line; std::getline(maps, line);) {
        if (line.find(" /SYSV") != std::string::npos) {
            return true;
        }
    }
    return false;
}

bool has_segments() {
    constexpr std::size_t kAttachedColumn = 6;
    std::ifstream segments("/proc/sysvipc/shm");
    std::string line;
    std::getline(segments, line);  // titles
    while (std::getline(segments, line)) {
        std::istringstream words(line);
        const std::vector<std::string> columns{std::istream_iterator<std::string>(words), {}};
        if (columns.size() > kAttachedColumn && columns[kAttachedColumn] != "0") {
            return true;
        }
    }
    return false;
}

}  // namespace dyetrace::capture
