// What the reader of the rings sleeps on: it is readable once a ring has woken the reader, until heard().
#pragma once

#include <bpf/libbpf.h>

#include <memory>

#include "base/result.h"

struct dyetrace_bpf;

namespace dyetrace::capture {

class Wakeups {
  public:
    Result<void> open(const dyetrace_bpf& skeleton);
    int fd() const { return fd_; }
    void heard() { (void)ring_buffer__consume(ring_.get()); }

  private:
    struct Deleter {
        void operator()(ring_buffer* ring) const { ring_buffer__free(ring); }
    };

    std::unique_ptr<ring_buffer, Deleter> ring_;
    int fd_ = -1;  // the skeleton's
};

}  // namespace dyetrace::capture
