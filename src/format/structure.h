// Structures of system calls as strace writes them, from bytes that came with an event.
//
//   append_sockaddr(out, …)   {sa_family=AF_INET, sin_port=htons(80), sin_addr=inet_addr("127.0.0.1")}
//   append_timespec(out, …)   {tv_sec=1, tv_nsec=500000000}
//
// Layouts are those of x86_64; bytes may be fewer than the structure: then false is returned and nothing appended (the
// caller shows the address).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/constant.h"
#include "format/pid_text.h"
#include "format/quote.h"

namespace dyetrace::format {

// How strings, arrays and constants are shown.
struct Limits {
    std::size_t text_max = 32;   // bytes of a string (-s)
    std::size_t items_max = 32;  // members of an array; "..." follows them
    Constants constants = Constants::kNames;
    Quotes quotes = Quotes::kEscapes;
    PidText pids;
};

// How much of one call is shown.
struct CallDetail {
    bool raw = false;     // arguments as they are, in hexadecimal
    bool whole = false;   // all members of structures and arrays
    bool verbose = true;  // structures, else their addresses
    bool dump = false;    // the bytes that it moved, after its line
};

constexpr std::size_t kSignalSetBytes = 8;  // all that the kernel takes

// ] or, after some members and before others, ", ...]".
void end_array(std::string& out, bool after_some, bool before_others);
// , ... /* 0x7f00 */]: nothing can be read from there on.
void end_array_at(std::string& out, std::uint64_t address);

// Writes as C's %#x does: 0 without 0x.
std::string hex(std::uint64_t value);
std::string pointer_text(std::uint64_t address);  // NULL, 0x7f00
std::string device_text(std::uint64_t device);    // makedev(0xfe, 0)

bool append_sockaddr(std::string& out, std::string_view bytes, const Limits& limits = {});
bool append_timespec(std::string& out, std::string_view bytes);
// [{…}, {…}] with dates, UTIME_NOW and UTIME_OMIT by name.
// struct f_owner_ex, struct fiemap; `mapped`: with what the kernel wrote there.
bool append_owner(std::string& out, std::string_view bytes, const Limits& limits);
bool append_extents(std::string& out, std::string_view bytes, bool mapped, const Limits& limits);
bool append_timespecs(std::string& out, std::string_view bytes, const Limits& limits);
bool append_timevals(std::string& out, std::string_view bytes);
bool append_utimbuf(std::string& out, std::string_view bytes);
bool append_timeval(std::string& out, std::string_view bytes);
// `whole`: all members, else the few that people look for.
bool append_stat(std::string& out, std::string_view bytes, bool whole, const Limits& limits);
bool append_statx(std::string& out, std::string_view bytes, bool whole, const Limits& limits);
bool append_statfs(std::string& out, std::string_view bytes, const Limits& limits);
// `size` is what the program says of its structure, which may be longer than what is known here.
bool append_open_how(std::string& out,
                     std::string_view bytes,
                     std::uint64_t size,
                     const Limits& limits);
// `result` of the call: what it wrote to the addresses that it was given.
bool append_clone_args(std::string& out,
                       std::string_view bytes,
                       std::int64_t result,
                       const Limits& limits);
bool append_utsname(std::string& out, std::string_view bytes, bool whole);
bool append_sysinfo(std::string& out, std::string_view bytes);
bool append_rusage(std::string& out, std::string_view bytes, bool whole);
bool append_itimerval(std::string& out, std::string_view bytes);
bool append_itimerspec(std::string& out, std::string_view bytes);
bool append_capability_header(std::string& out, std::string_view bytes, const Limits& limits);
bool append_capabilities(std::string& out, std::string_view bytes);
// [INT CHLD], ~[KILL] where most are in it.
bool append_signal_set(std::string& out, std::string_view bytes);
bool append_signal_action(std::string& out, std::string_view bytes);
bool append_signal_stack(std::string& out, std::string_view bytes);
bool append_signal_number(std::string& out, std::string_view bytes);  // [SIGTERM]
// TCGETS, or _IOC(_IOC_READ, 0x12, 0x34, 0x8).
std::string request_text(std::uint64_t request, Constants constants = Constants::kNames);
bool append_winsize(std::string& out, std::string_view bytes);
// struct ifreq; `answered`: with what the kernel wrote there.
bool append_interface(std::string& out,
                      std::string_view bytes,
                      std::string_view request,
                      bool answered);
bool append_flock(std::string& out, std::string_view bytes, bool with_pid, const Limits& limits);
bool append_wait_status(std::string& out, std::string_view bytes);
bool append_int_pair(std::string& out, std::string_view bytes);
bool append_int(std::string& out, std::string_view bytes);   // [12]
bool append_long(std::string& out, std::string_view bytes);  // [12]

// ["ls", "-l"]: a count of 8 bytes, then the first strings, each with its NUL. The second says what strace says of an environment.
bool append_texts(std::string& out, std::string_view bytes, const Limits& limits);
bool append_variable_count(std::string& out, std::string_view bytes);
// [3 7]: those below `count`, as the kernel looks at no other.
bool append_fd_set(std::string& out, std::string_view bits, std::size_t count);
bool append_rlimit(std::string& out, std::string_view bytes);
// The value of a socket's option, `given` or asked for: [1], {l_onoff=1, l_linger=5}, {tv_sec=1, tv_usec=0}, or its bytes.
bool append_socket_option(std::string& out,
                          std::uint64_t level,
                          std::uint64_t option,
                          std::string_view bytes,
                          bool given,
                          const Limits& limits = {});
// [{cmsg_len=20, cmsg_level=SOL_SOCKET, cmsg_type=SCM_RIGHTS, cmsg_data=[4]}]
bool append_control(std::string& out, std::string_view bytes, const Limits& limits);

// Shows as many of `count` pollfd as there are; `returned`: revents of those that have some, else fd and events of all.
bool append_pollfds(std::string& out,
                    std::string_view bytes,
                    std::uint64_t address,
                    std::size_t count,
                    bool returned,
                    const Limits& limits);
bool append_epoll_event(std::string& out, std::string_view bytes, const Limits& limits);
bool append_epoll_events(std::string& out,
                         std::string_view bytes,
                         std::size_t count,
                         const Limits& limits);

// The first bytes of each part of a vector, from the `preview` that schema/shared/preview.h describes.
class VectorBytes {
  public:
    VectorBytes() = default;
    explicit VectorBytes(std::string_view preview);
    // Empty where nothing of it was captured.
    std::string_view of(std::size_t part) const;

  private:
    std::string_view lengths_;
    std::string_view bytes_;
};

constexpr std::size_t kMovesAll =
    ~std::size_t{0};  // all of a vector, whatever lengths its parts say

// [{iov_base="abc", iov_len=3}, …] of `count` at `address`, of which the call moved so many bytes; without `moved` nothing but addresses.
bool append_iovecs(std::string& out,
                   std::string_view bytes,
                   std::uint64_t address,
                   std::size_t count,
                   const VectorBytes& data,
                   std::optional<std::size_t> moved,
                   const Limits& limits);

struct Message {
    std::string_view bytes;  // a msghdr, followed by its iovecs
    std::string_view name;
    VectorBytes data;
    std::string_view control;
    std::size_t moved = 0;
    std::optional<std::uint32_t> name_room;  // bytes that there were for the name, before the call
};
bool append_msghdr(std::string& out, const Message& message, const Limits& limits);

}  // namespace dyetrace::format
