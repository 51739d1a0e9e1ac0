// The folders in which the kernel tells of itself: tracefs (tracepoints, what can be traced) and debugfs.
//
//   /sys/kernel/tracing is mounted       ──► that one
//   it is nowhere, and this is root      ──► mounted without a place: only this object sees it, and it ends with it
//
//   TRY(const KernelFolder tracing, KernelFolder::tracing());
//   TRY(std::string id, tracing.read("events/sched/sched_switch/id", 64));
//
// Limits: without root both are closed to everybody on most systems; the error says what to mount.
#pragma once

#include <cstddef>
#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::probes {

class KernelFolder {
  public:
    static Result<KernelFolder> tracing();
    static Result<KernelFolder> debugging();
    // Another folder that looks like one of them; it need not exist.
    static KernelFolder at(std::string path) { return {std::move(path), base::Fd()}; }

    // A file below it, by its relative name. Errors name the file.
    Result<std::string> read(const std::string& file, std::size_t bytes_max) const;

  private:
    KernelFolder(std::string path, base::Fd mount)
        : path_(std::move(path)), mount_(std::move(mount)) {}
    static Result<KernelFolder> mounted_for_itself(const char* type, const std::string& usual);

    std::string path_;
    base::Fd mount_;  // path_ leads through it, if it is valid
};

}  // namespace dyetrace::probes
