// What the kernel did with bytes, as analyses are told it: who, when, out of which object, into which.
//
//   read()              from = what was read                 write()            to = what was written
//   copy_file_range()   from = first file, to = second file  open(…, O_TRUNC)   to = the file, of which a part is cut
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dyetrace::analysis {

inline constexpr std::uint64_t kUnknown = UINT64_MAX;  // an offset that nobody knows

// How bytes that one operation left there are found by another one.
enum class Channel : std::uint8_t {
    kNone,          // they are not: devices, sockets whose other end is not in the trace
    kFile,          // by their offset in the object
    kTcp,           // by their offset in the stream of a connection
    kPipe,          // in the order in which they were written
    kUnixStream,    // the same, from one end to the other one
    kUnixMessages,  // message by message
    kDatagrams,     // by their ports and their content: UDP
    kQueue,         // message by message of one type or priority: System V, POSIX
};

// How the bytes of an object can be counted, as sql/moves.sql says it.
enum class Counted : std::uint8_t {
    kNot,              // events were lost, or nothing says whether some are missing
    kCertainly,        // each call on it is known, since it was made
    kWhereItBalances,  // Side::balanced
    kMapped,           // Side::mapped
};

// One side of an operation: the object that it took bytes out of, or put bytes into.
struct Side {
    Channel channel = Channel::kNone;
    // File: no other call can have moved the position. Pipe, unix: each call on the object is known, or see `balanced`.
    bool certain = true;
    // Pipe, unix: it was there before the recording, or calls on it may have been filtered. Its count is right where it is seen empty when as
    // much was taken as was put. That proves nothing where a process that is not recorded took and put the same number: then `certain` is false,
    // unless the kernel says that no other process could use either end.
    bool balanced = false;
    // File: who mapped it for writing may have put there by the end of the call what no call wrote.
    bool mapped = false;
    bool empties = false;      // pipe, unix, taken out of: nothing was left in it
    bool peeks = false;        // the bytes stay: MSG_PEEK, tee
    std::uint64_t object = 0;  // 0: there is no such side
    std::uint64_t other =
        0;  // TCP: the connection; unix: the object at the other end; UDP: both ports; queue: type or priority of the message, + 1; 0: not known
    std::uint64_t offset =
        kUnknown;  // of the first byte: a file's file_offset, a TCP stream's stream_offset
    // UDP: numbers that stand for the addresses of this end and of the other one; 0: not known.
    std::uint32_t own_address = 0, far_address = 0;
};

// A window of bytes that the content chose, among those that an operation moved (content/anchor.h).
struct Anchor {
    std::int64_t position = 0;  // of its first byte; below 0: it began so far before
    std::uint64_t fingerprint = 0;
    std::uint64_t prefix_sum =
        0;  // of the operation's bytes up to the window's last one, if it has a sum
};

// An occurrence of a dye among them.
struct DyeMark {
    std::int64_t position = 0;  // of its first byte; below 0: it began so far before
    std::uint64_t dye = 0;
    std::uint64_t bytes = 0;  // of the form in which it was written
};

struct Operation {
    std::uint64_t event = 0;
    std::uint64_t start_ns = 0;
    std::uint64_t end_ns = 0;
    std::uint64_t process = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint64_t> fingerprint;  // of all its bytes
    std::optional<std::uint64_t> sum;          // of all its bytes (content/content_sum.h)
    std::uint32_t distinct_bytes = 0;          // byte values among 64 bytes of it; 0: not known
    bool unfinished = false;                   // how much it moved is not known
    Side from;
    Side to;
    std::span<const Anchor> anchors;  // by position
    std::span<const DyeMark> dyes;    // by position
    std::uint64_t
        cut_begin = 0,
        cut_end = 0;  // bytes of the file `to` that are gone; object 0: nobody knows of which file
};

// A process remembers what its parent knew when it was made.
struct ProcessLink {
    std::uint64_t process = 0;
    std::uint64_t parent = 0;
    std::uint64_t start_ns = 0;
};

// From then on a process has memory that others with the same number have too: a shared mapping.
struct MemoryLink {
    std::uint64_t process = 0;
    std::uint64_t memory = 0;  // not 0
    std::uint64_t since_ns = 0;
};

// A process began another program: execve.
struct ProgramStart {
    std::uint64_t process = 0;
    std::uint64_t ns = 0;
};

// Who may have bytes from whom without a call.
struct Lineage {
    std::vector<ProcessLink> processes = {};
    std::vector<MemoryLink> memories = {};
    std::vector<ProgramStart> programs = {};
};

}  // namespace dyetrace::analysis
