// What a process gives up before it looks at what others wrote: capabilities, system calls, files. Whoever takes it over then gets little.
//
//   TRY(confine({.files = FileAccess{.writable = {"web1.trace", "/tmp"}}}));      a reader: no capability, writes only there
//
// Nothing of it comes back, for this thread, those that it starts and the programs that they run: call it while there is one thread, and
// after whatever must not have it was started.
//
// Limits: on a kernel without Landlock (before 5.13) files stay as they are; one that knows less of it keeps less.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace dyetrace::base {

// What is not there is left out.
struct FileAccess {
    std::vector<std::string> writable;  // folders or files, with all below; read, too
    std::optional<std::vector<std::string>> readable{};  // nothing: everything
};

struct Confinement {
    std::vector<int> kept_capabilities = {};  // CAP_…, as far as it has them
    std::optional<FileAccess> files = {};     // nothing: as before
    bool may_use_network = false;
    bool may_start_programs = false;
    bool may_use_loaded_bpf =
        false;  // maps, links and iterators of programs that are loaded; no new program or map
};

// Whether only a capability lets this user into a folder, or through those above it: root's, in a home that is closed to others.
bool needs_capability_for(const std::string& path);

// An Error says what could not be given up; the rest was.
Result<void> confine(const Confinement& confinement);

}  // namespace dyetrace::base
