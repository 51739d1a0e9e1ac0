#include "probes/program_path.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "probes/elf_file.h"

namespace dyetrace::probes {
namespace {

constexpr std::size_t kLoaderFileBytesMax = 64 << 10;

void add_folders(std::vector<std::string>& folders, std::string_view text, std::string_view ends) {
    while (!text.empty()) {
        const std::size_t end = std::min(text.find_first_of(ends), text.size());
        if (text.starts_with('/')) folders.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

bool is_file_at(const std::string& path) {
    std::error_code ignored;
    return std::filesystem::is_regular_file(path, ignored);
}

Result<std::string> real_path(const std::string& path) {
    std::error_code error;
    const std::string real = std::filesystem::canonical(path, error);
    if (error) return Error::from_errno(error.value(), fmt::format("looking for '{}'", path));
    return real;
}

// lib + name + .so.N with the highest N; the link without a number is a developer's, and may be a text.
std::string newest_library(std::string_view name, const std::vector<std::string>& folders) {
    const std::string begin = fmt::format("lib{}.so.", name);
    for (const std::string& folder : folders) {
        const auto files = base::list_folder(folder);
        if (!files.ok()) continue;
        std::string newest;
        for (const std::string& file : files.value()) {
            const bool is_version =
                file.starts_with(begin) &&
                file.find_first_not_of("0123456789.", begin.size()) == std::string::npos;
            if (is_version && (newest.empty() || ::strverscmp(newest.c_str(), file.c_str()) < 0)) {
                newest = file;
            }
        }
        if (!newest.empty()) return folder + "/" + newest;
    }
    return "";
}

std::string library_of(std::string_view name, const std::vector<std::string>& folders) {
    if (name.find(".so") == name.npos) return newest_library(name, folders);
    for (const std::string& folder : folders) {
        const std::string path = fmt::format("{}/{}", folder, name);
        if (ElfFile::open(path).ok()) return path;
    }
    // "libssl.so" of a machine without its headers.
    if (!name.starts_with("lib") || !name.ends_with(".so")) return "";
    return newest_library(name.substr(3, name.size() - 6), folders);
}

}  // namespace

ProgramFolders ProgramFolders::usual() {
    ProgramFolders folders;
    const char* path = std::getenv("PATH");
    add_folders(folders.programs, path != nullptr ? path : "/usr/bin:/bin", ":");
    const char* library_path = std::getenv("LD_LIBRARY_PATH");
    if (library_path != nullptr) add_folders(folders.libraries, library_path, ":;");
    const auto files = base::list_folder("/etc/ld.so.conf.d");
    for (const std::string& file : files.ok() ? files.value() : std::vector<std::string>()) {
        const auto text = base::read_file("/etc/ld.so.conf.d/" + file, kLoaderFileBytesMax);
        if (text.ok()) add_folders(folders.libraries, text.value(), "\n");
    }
    const std::string machine =
        kThisMachine == Machine::kArm64 ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
    for (const char* usual : {"/lib/", "/usr/lib/"}) folders.libraries.push_back(usual + machine);
    for (const char* usual : {"/usr/local/lib", "/lib64", "/usr/lib64", "/lib", "/usr/lib"}) {
        folders.libraries.emplace_back(usual);
    }
    return folders;
}

Result<std::string> program_path(std::string_view name, const ProgramFolders& folders) {
    if (name.empty()) return Error(ErrorCode::kInvalidArgument, "no program is named");
    if (name.find('/') != name.npos) return real_path(std::string(name));
    for (const std::string& folder : folders.programs) {
        const std::string path = fmt::format("{}/{}", folder, name);
        if (is_file_at(path) && ::access(path.c_str(), X_OK) == 0) return real_path(path);
    }
    const std::string library = library_of(name, folders.libraries);
    if (!library.empty()) return real_path(library);
    return Error(ErrorCode::kNotFound,
                 fmt::format("no program and no library '{}' is found by PATH and where the loader "
                             "looks: say its path",
                             name));
}

}  // namespace dyetrace::probes
