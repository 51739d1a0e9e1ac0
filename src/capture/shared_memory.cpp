#include "capture/shared_memory.h"

#include <cstring>
#include <map>
#include <tuple>

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

}  // namespace dyetrace::capture
