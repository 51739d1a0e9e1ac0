// A folder under $TMPDIR (or /tmp) that disappears with its owner, with everything in it; also when a signal ends the program that
// has no handler for it (SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM). What a killed program leaves goes when the next one of its user
// wants a folder: the owner of a folder holds a lock on it, which ends with the owner however that ends.
//
//   const TemporaryFolder folder = TemporaryFolder::make().value();
//   write_file_atomically(folder.path() + "/a", "blue dye").value();
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::base {

class TemporaryFolder {
  public:
    static Result<TemporaryFolder> make();

    // Some must say the name before the folder is needed: they get one that nobody can guess, and nothing is there yet. Before, removes
    // what killed programs left.
    static std::string free_path();
    static Result<TemporaryFolder> make(const std::string& free_path);

    TemporaryFolder(TemporaryFolder&& other) noexcept
        : path_(std::exchange(other.path_, {})),
          place_(other.place_),
          lock_(std::move(other.lock_)) {}
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    TemporaryFolder(const TemporaryFolder&) = delete;
    ~TemporaryFolder();

    const std::string& path() const { return path_; }

  private:
    explicit TemporaryFolder(std::string path);
    void forget();

    std::string path_;
    std::size_t place_;  // among those that a signal removes
    Fd lock_;
};

}  // namespace dyetrace::base
