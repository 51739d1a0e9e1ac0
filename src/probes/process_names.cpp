#include "probes/process_names.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "base/file.h"

namespace dyetrace::probes {
namespace {

constexpr std::size_t kMapsBytesMax = 64 << 20;
constexpr std::size_t kJitBytesMax = 256 << 20;
constexpr std::size_t kStatusBytesMax = 64 << 10;
constexpr std::string_view kDeleted = " (deleted)";

// The number that a process has for itself, in a container: the last of "NSpid:	4711	12".
std::string own_number(const std::string& folder, pid_t pid) {
    const auto status = base::read_file(folder + "/status", kStatusBytesMax);
    if (!status.ok()) return std::to_string(pid);
    const std::size_t line = status.value().find("\nNSpid:");
    if (line == std::string::npos) return std::to_string(pid);
    const std::size_t end = status.value().find('\n', line + 1);
    const std::string text = status.value().substr(line, end - line);
    return text.substr(std::min(text.find_last_of("\t ") + 1, text.size()));
}

bool is_file(const std::string& path, std::uint64_t inode) {
    struct stat status = {};
    return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_ino == inode;
}

}  // namespace

bool ProcessNames::remember(pid_t pid) {
    Process& process = process_of(pid);
    process = {};
    process.last_use = ++clock_;
    return read_maps(pid, process);
}

void ProcessNames::forget(pid_t pid) {
    processes_.erase(pid);
}

ProcessNames::Process& ProcessNames::process_of(pid_t pid) {
    const auto found = processes_.find(pid);
    if (found == processes_.end() && processes_.size() >= kProcessesMax) {
        processes_.erase(std::min_element(
            processes_.begin(), processes_.end(), [](const auto& a, const auto& b) {
                return a.second.last_use < b.second.last_use;
            }));
    }
    Process& process = found == processes_.end() ? processes_[pid] : found->second;
    process.last_use = ++clock_;
    return process;
}

// What was known stays if the process is gone.
bool ProcessNames::read_maps(pid_t pid, Process& process) {
    ++process.reads;
    const auto text = base::read_file(fmt::format("{}/{}/maps", proc_, pid), kMapsBytesMax);
    if (!text.ok()) return false;
    std::vector<ProcessMap> maps = executable_maps(text.value());
    if (maps.empty()) return false;  // it is ending
    process.maps = std::move(maps);
    return true;
}

const ProcessMap* ProcessNames::find_map(pid_t pid, Process& process, std::uint64_t address) {
    const ProcessMap* map = map_of(process.maps, address);
    if (map == nullptr && process.reads < kReadsMax && read_maps(pid, process)) {
        map = map_of(process.maps, address);
    }
    return map;
}

std::string ProcessNames::name_of(pid_t pid, std::uint64_t address) {
    Process& process = process_of(pid);
    const ProcessMap* map = find_map(pid, process, address);
    if (map == nullptr) return fmt::format("{:#x}", address);
    if (map->path.empty() || map->path.starts_with("//") || map->inode == 0) {
        if (map->path.starts_with("[v")) return map->path;  // [vdso], [vsyscall]
        return jit_name(pid, process, address);
    }
    const std::uint64_t offset = address - map->begin + map->offset;
    std::uint64_t shown = offset;
    if (const ProgramFunctions* program = program_of(pid, *map)) {
        const auto linked = program->file().address_of(offset);
        if (linked) {
            if (const auto function = program->at(*linked)) return function->shown;
        }
        shown = linked.value_or(offset);
    }
    std::string path = map->path;
    if (path.ends_with(kDeleted)) path.resize(path.size() - kDeleted.size());
    return fmt::format("{}+{:#x}", std::filesystem::path(path).filename().string(), shown);
}

std::string ProcessNames::jit_name(pid_t pid, Process& process, std::uint64_t address) {
    const JitFunction* function = jit_function_of(process.jit, address);
    if (function == nullptr && process.jit_reads < kReadsMax) {
        const std::string folder = fmt::format("{}/{}", proc_, pid);
        const std::string path =
            fmt::format("{}/root/tmp/perf-{}.map", folder, own_number(folder, pid));
        struct stat status = {};
        // Anybody may have put a link there.
        const bool is_there = ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
        const auto bytes = static_cast<std::uint64_t>(status.st_size);
        if (is_there && process.jit_bytes != bytes) {
            ++process.jit_reads;
            process.jit_bytes = bytes;
            auto text = base::read_file(path, kJitBytesMax);
            if (text.ok()) process.jit = jit_functions(text.value());
            function = jit_function_of(process.jit, address);
        }
    }
    return function != nullptr ? function->name : fmt::format("{:#x}", address);
}

const ProgramFunctions* ProcessNames::program_of(pid_t pid, const ProcessMap& map) {
    const FileKey key(map.device, map.inode);
    auto found = programs_.find(key);
    if (found == programs_.end()) {
        Program program;
        program.functions = open_program(pid, map);
        program.bytes = program.functions != nullptr ? program.functions->memory_bytes() : 0;
        program_bytes_ += program.bytes;
        program.last_use = ++clock_;
        found = programs_.emplace(key, std::move(program)).first;
        make_room();
    }
    found->second.last_use = ++clock_;
    return found->second.functions.get();
}

void ProcessNames::make_room() {
    while (programs_.size() > 1 &&
           (programs_.size() > kProgramsMax || program_bytes_ > kProgramBytesMax)) {
        // The newest has just been asked for, so it is not the one that goes.
        const auto oldest =
            std::min_element(programs_.begin(), programs_.end(), [](const auto& a, const auto& b) {
                return a.second.last_use < b.second.last_use;
            });
        program_bytes_ -= oldest->second.bytes;
        programs_.erase(oldest);
    }
}

// As the process sees it, which may be in a container; else the mapping itself, also of a file that was deleted; else the same
// file as we see it, for a process that is gone.
std::unique_ptr<ProgramFunctions> ProcessNames::open_program(pid_t pid,
                                                             const ProcessMap& map) const {
    const std::string folder = fmt::format("{}/{}", proc_, pid);
    for (const std::string& path :
         {fmt::format("{}/root{}", folder, map.path),
          fmt::format("{}/map_files/{:x}-{:x}", folder, map.begin, map.end),
          map.path}) {
        if (!is_file(path, map.inode)) continue;
        auto functions = ProgramFunctions::open(path, debug_folder_);
        if (functions.ok()) {
            return std::make_unique<ProgramFunctions>(std::move(functions).value());
        }
    }
    return nullptr;
}

}  // namespace dyetrace::probes
