// Where an agent keeps what it has not shipped yet.
//
//   /var/lib/dyetrace/spool/
//     agent                     locked by the agent as long as it lives: one per spool
//     instance                  a random word that makes this spool known to the collector
//     20261122T094512-ab12/     a session (held_session.h)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::transport {

class Spool {
  public:
    // kAlreadyExists if another agent has it.
    static Result<Spool> open(const std::string& path);

    const std::string& instance() const { return instance_; }
    Result<std::vector<std::string>> sessions() const;
    std::string session_path(const std::string& id) const { return path_ + "/" + id; }
    // What it takes of the disk.
    std::uint64_t bytes() const;

  private:
    explicit Spool(std::string path) : path_(std::move(path)) {}
    Result<void> read_instance();

    std::string path_;
    std::string instance_;
    base::Fd lock_;
};

}  // namespace dyetrace::transport
