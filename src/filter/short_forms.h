// The short forms of the command line as a predicate.
//
//   -p 7,9 -P '/var/*' --port 5432 --errors --longer 1ms --where "uid = 0"
//   pid IN (7, 9) AND (path GLOB '/var/*' OR path2 GLOB '/var/*') AND (local_port = 5432 OR remote_port = 5432)
//       AND <schema::failure_condition()> AND duration_ns > 1000000 AND uid = 0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/predicate.h"

namespace dyetrace::filter {

// Several values of one form are alternatives; different forms must all hold.
struct ShortForms {
    std::vector<std::uint32_t> pids;
    // Bytes as typed. One with * ? or [ is a GLOB pattern, in which \ makes the next character plain; another one is a
    // name. A comm is cut to 15 bytes, as the kernel does.
    std::vector<std::string> comms;
    std::vector<std::string> paths;    // absolute, see path_meanings()
    std::vector<std::uint16_t> ports;  // of either end
    bool errors = false;
    std::optional<std::uint64_t> longer_ns;
    std::string where;  // empty: none
};

Result<Predicate> predicate_of(const ShortForms& forms);

// What a path that a person typed is called in events: a name is absolute, and what its symbolic links lead to is another
// name of it; a glob is as it was typed. Asks the file system, now and here, so that the meaning stays what it was.
//
//   link    /home/a/link, /home/b/file        ../*.db    ../*.db
std::vector<std::string> path_meanings(const std::string& typed);

}  // namespace dyetrace::filter
