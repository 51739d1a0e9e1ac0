// What a process had mapped that may run, from /proc/PID/maps: which file each address belongs to.
//
//   7f10a000-7f10c000 r-xp 00002000 fe:01 1234   /usr/lib/libc.so.6      ─►  {begin, end, file offset, device, inode, path}
//
// At most kMapsMax; the rest of a process that has more is unknown.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace dyetrace::probes {

inline constexpr std::size_t kMapsMax = 8192;  // of code; a browser has 300

struct ProcessMap {
    std::uint64_t begin = 0, end = 0, offset = 0;
    std::string device;  // "fe:01"
    std::uint64_t inode = 0;
    std::string path;  // "[vdso]"; empty: nobody's file

    bool operator==(const ProcessMap&) const = default;
};

// Lines that are none are passed over; only what may be executed; by address.
std::vector<ProcessMap> executable_maps(std::string_view text);

const ProcessMap* map_of(const std::vector<ProcessMap>& maps, std::uint64_t address);

// Functions that a runtime compiled while it ran and wrote to /tmp/perf-PID.map: "7f1000 40 Shop.sell", hexadecimal begin and size.
struct JitFunction {
    std::uint64_t begin = 0, size = 0;
    std::string name;
};
inline constexpr std::size_t kJitFunctionsMax = 1'000'000;

std::vector<JitFunction> jit_functions(
    std::string_view text);  // by address; of one begin the last that was written
const JitFunction* jit_function_of(const std::vector<JitFunction>& functions,
                                   std::uint64_t address);

}  // namespace dyetrace::probes
