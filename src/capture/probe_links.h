// Attaches programs to the places of a probe.
//
//   TRY(ProbeLinks links, attach_probe(places, {.fired = fd, .entered = -1}));      they run until `links` goes
//
// Many functions of one program are attached in one call where the kernel has it (6.6), else each by itself, which takes some 30 µs and
// the end of a grace period each when they go.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::capture {

// BPF_TRACE_UPROBE_MULTI, of linux/bpf.h since 6.6.
inline constexpr int kAttachMany = 48;

enum class PlaceKind : std::uint8_t {
    kKernelFunction,  // file: its name
    kTracepoint,      // number: its id
    kProgram,         // a byte of a file that is executed
    kTimer,           // number: nanoseconds
    kSample,          // number: times a second on every CPU
};

struct ProbePlace {
    PlaceKind kind = PlaceKind::kTimer;
    std::string name;          // as people know it
    std::string file = {};     // of kProgram
    std::uint64_t number = 0;  // of kProgram: the byte
    std::uint64_t semaphore =
        0;  // of kProgram: the byte of a counter that says that somebody listens; 0: none

    bool operator==(const ProbePlace&) const = default;
};

struct ProbeProgramFds {
    int fired = -1;
    int entered = -1;           // fired is then run when functions return
    bool are_for_many = false;  // loaded for uprobe.multi
};

using ProbeLinks = std::vector<base::Fd>;

// Each program is told the number of the place where it runs, counted from `first`.
Result<ProbeLinks> attach_probe(const std::vector<ProbePlace>& places,
                                const ProbeProgramFds& programs,
                                std::uint64_t first);

// The type of program that a kind of place runs, and whether places of one file can be attached in one call.
std::uint32_t program_type_of(PlaceKind kind);
bool can_attach_many();

}  // namespace dyetrace::capture
