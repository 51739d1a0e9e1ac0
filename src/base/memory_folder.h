// Gives tests that write a lot a folder in memory, where nothing waits for a disk.
#pragma once

#include <unistd.h>

#include <string>

#include "base/temporary_folder.h"

namespace dyetrace::base {

// Where there is no /dev/shm, an ordinary one.
inline TemporaryFolder memory_folder() {
    std::string path = TemporaryFolder::free_path();
    if (::access("/dev/shm", W_OK) == 0) {
        path = "/dev/shm" + path.substr(path.rfind('/'));
    }
    return TemporaryFolder::make(path).value();
}

}  // namespace dyetrace::base
