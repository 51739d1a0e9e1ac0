// Traces that become Parquet while they arrive: `dyetrace seal --follow`, a process per trace.
#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace dyetrace::transport {

class Sealing {
  public:
    explicit Sealing(std::string program) : program_(std::move(program)) {}

    // Starts one, if none works on it. It ends with the trace, or when its collector dies.
    void follow(const std::string& path);
    // Takes note of those that have ended.
    void tick();

  private:
    std::string program_;
    std::map<std::string, pid_t> followers_;  // by path of the trace
};

}  // namespace dyetrace::transport
