// What processes call themselves after they began. A server writes what it is into the words that it was started with ("nginx: worker process"), a child has
// those of its parent until it does, and the kernel's programs can read only the memory of who is running: not of a process that hangs all the time.
//
//   task contexts of a drain ─► learn(): process 7, "nginx" ─► look(): /proc/7/cmdline has "nginx: worker process" ─► its context again, with these words
//
// Each process is looked at twice: one to two ticks after it was first seen, and at the end. Nothing of this is on the way of an event.
//
// Limits: of one that ends before, or changes its words between the two, the words are those that were seen last. kProcessesMax are remembered, 0.3 kB each; a look
// is 15 µs. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "recorder/fact_writer.h"

namespace dyetrace::recorder {

class CommandLines {
  public:
    static constexpr std::size_t kProcessesMax = 16'384;
    static constexpr std::size_t kCommandBytesMax =
        1024;  // as COMMAND_BYTES_MAX of the kernel's programs

    // Without `keeps` they are left out of the trace. `folder`: where processes are.
    explicit CommandLines(bool keeps, std::string folder = "/proc")
        : keeps_(keeps), folder_(std::move(folder)) {}

    // Takes note of the processes that these facts speak of.
    void learn(std::span<const std::byte> facts);

    // Writes down those whose words are others than their context has: of those that were there before the last look, or of all.
    Result<void> look(bool all, FactWriter& facts);

  private:
    Result<void> look_at(std::uint32_t pid, FactWriter& facts);

    bool keeps_;
    std::string folder_;
    std::map<std::uint32_t, std::vector<std::byte>>
        contexts_;  // the last one of each process, by number
    std::vector<std::uint32_t> next_,
        new_;  // numbers of those that the next look is about, and the one after it
};

}  // namespace dyetrace::recorder
