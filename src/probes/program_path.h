// The file of a program or library from the name that people say.
//
//   /usr/bin/cat, ./shop     itself
//   cat                      the program that the shell would run, by PATH
//   libc.so.6, libssl.so     a library, where the loader looks (LD_LIBRARY_PATH, /etc/ld.so.conf, usual folders)
//   c, ssl                   the library, if no program has this name: the newest libc.so.N
//
// Links are followed, so that one file has one name. A program comes before a library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace dyetrace::probes {

struct ProgramFolders {
    std::vector<std::string> programs, libraries;

    // Those that this process and this machine use.
    static ProgramFolders usual();
};

Result<std::string> program_path(std::string_view name,
                                 const ProgramFolders& folders = ProgramFolders::usual());

}  // namespace dyetrace::probes
