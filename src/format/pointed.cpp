// Arguments that point to structures: see structure.h for how these look.
#include <fmt/format.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "format/argument.h"
#include "format/bytes.h"
#include "format/layout.h"
#include "format/signal.h"
#include "schema/flags.h"

namespace dyetrace::format {

using schema::Attachment;

namespace {

using Append = bool (*)(std::string&, std::string_view);
using AppendSome = bool (*)(std::string&, std::string_view, bool whole);

struct Structure {
    std::string_view type;
    Append append;
    bool returned;  // the call fills it: an address where it failed
};

constexpr std::array kStructures{
    Structure{"fd_pair", append_int_pair, true},
    Structure{"rlimit_in", append_rlimit, false},
    Structure{"rlimit_out", append_rlimit, true},
    Structure{"sigaction_in", append_signal_action, false},
    Structure{"sigaction_out", append_signal_action, true},
    Structure{"sigset_out", append_signal_set, true},
    Structure{"signal_stack_in", append_signal_stack, false},
    Structure{"signal_stack_out", append_signal_stack, true},
    Structure{"signal_out", append_signal_number, true},
    Structure{"sysinfo_out", append_sysinfo, true},
    Structure{"timespec_out", append_timespec, true},
    Structure{"timeval_in", append_timeval, false},
    Structure{"utimbuf_in", append_utimbuf, false},
    Structure{"timeval_out", append_timeval, true},
    Structure{"itimerval_in", append_itimerval, false},
    Structure{"itimerval_out", append_itimerval, true},
    Structure{"itimerspec_in", append_itimerspec, false},
    Structure{"itimerspec_out", append_itimerspec, true},
    Structure{"capabilities_in", append_capabilities, false},
    Structure{"capabilities_out", append_capabilities, true},
    Structure{"int_in", append_int, false},
    Structure{"int_out", append_int, true},
    Structure{"long_out", append_long, true},
    Structure{"winsize_in", append_winsize, false},
    Structure{"winsize_out", append_winsize, true},
};

struct AbridgedStructure {
    std::string_view type;
    AppendSome append;
};

// struct mq_attr
bool append_queue(std::string& out, std::string_view bytes) {
    const auto queue = read_at<std::array<std::int64_t, 4>>(bytes);
    if (queue) {
        print(out,
              "{{mq_flags={}, mq_maxmsg={}, mq_msgsize={}, mq_curmsgs={}}}",
              constant_text(
                  "descriptor_flags", static_cast<std::uint64_t>((*queue)[0]), Constants::kNames),
              (*queue)[1],
              (*queue)[2],
              (*queue)[3]);
    }
    return queue.has_value();
}

bool append_ulong(std::string& out, std::string_view bytes) {
    const auto value = read_at<std::uint64_t>(bytes);
    if (value) {
        print(out, "[{}]", *value);
    }
    return value.has_value();
}

// [0x7f0000000000]
bool append_word(std::string& out, std::string_view bytes) {
    const auto word = read_at<std::uint64_t>(bytes);
    if (word) {
        print(out, "[{}]", hex(*word));
    }
    return word.has_value();
}

constexpr std::array kAbridged{
    AbridgedStructure{"utsname_out", append_utsname},
    AbridgedStructure{"rusage_out", append_rusage},
};

}  // namespace

// How many bytes of a structure the kernel looks at or writes, where the call can mean fewer than all.
std::size_t CallText::meant_bytes(std::size_t index) const {
    if (type_of(index) == "sigset_out") {
        return value(index + 1);  // rt_sigpending takes any size up to that of a set
    }
    if (type_of(index).starts_with("capabilities")) {
        const auto header = attached(Attachment::kStructure, 0);
        const bool of_first =
            header && read_at<std::uint32_t>(*header) == _LINUX_CAPABILITY_VERSION_1;
        return of_first ? _LINUX_CAPABILITY_U32S_1 * sizeof(__user_cap_data_struct)
                        : std::string::npos;
    }
    return std::string::npos;
}

std::optional<std::string> CallText::structure(std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    const std::size_t meant = meant_bytes(index);
    if (!bytes || meant == 0) {
        return std::nullopt;
    }
    std::string common = common_layout(info_.abi, type_of(index), *bytes);
    if (meant < common.size()) {
        common.replace(meant, std::string::npos, common.size() - meant, '\0');
    }
    return common;
}

// Else wait4 and waitid write no resource usage; waitid says it by the signal alone.
bool CallText::found_child() const {
    if (info_.returns == "pid") {
        return event_.result > 0;
    }
    if (info_.name != "waitid" || (value(3) & WNOHANG) == 0) {
        return true;
    }
    const auto info = attached(Attachment::kStructure, 2);
    return info && read_at<std::int32_t>(*info).value_or(0) != 0;
}

bool CallText::print_structure(std::string& out, std::size_t index) const {
    const auto bytes = structure(index);
    if (!bytes) {
        return false;
    }
    const std::string_view type = type_of(index);
    for (const Structure& structure : kStructures) {
        if (structure.type == type) {
            return !(structure.returned && failed()) && structure.append(out, *bytes);
        }
    }
    for (const AbridgedStructure& structure : kAbridged) {
        if (structure.type == type) {
            return !failed() && found_child() && structure.append(out, *bytes, detail_.whole);
        }
    }
    if (type == "open_how") {
        return append_open_how(out, *bytes, index + 1 < 6 ? value(index + 1) : 0, limits_);
    }
    if (type == "epoll_event" && value(1) == EPOLL_CTL_DEL) return false;
    if (type == "owner_in") return append_owner(out, *bytes, limits_);
    if (type == "owner_out") return !failed() && append_owner(out, *bytes, limits_);
    if (type == "extents") return append_extents(out, *bytes, !failed(), limits_);
    if (type == "queue_in") return append_queue(out, *bytes);
    if (type == "queue_out") return !failed() && append_queue(out, *bytes);
    if (type == "context_out") return !failed() && append_word(out, *bytes);
    if (type == "siginfo_in") return append_siginfo(out, *bytes, limits_.pids);
    if (type == "siginfo_out") return !failed() && append_siginfo(out, *bytes, limits_.pids);
    if (type == "capability_header") return append_capability_header(out, *bytes, limits_);
    if (type == "epoll_event") return append_epoll_event(out, *bytes, limits_);
    if (type == "clone_args") {
        return append_clone_args(out, bytes->substr(0, value(index + 1)), event_.result, limits_);
    }
    if (type == "flock_in") return append_flock(out, *bytes, false, limits_);
    if (type == "flock_out") return !failed() && append_flock(out, *bytes, true, limits_);
    if (type == "wait_status") return event_.result > 0 && append_wait_status(out, *bytes);
    if (type == "interface") {
        return append_interface(out, *bytes, request_text(value(1)), !failed());
    }
    if (failed() && type == "structure_out") return false;
    if (info_.name == "statx") return append_statx(out, *bytes, detail_.whole, limits_);
    if (info_.name == "statfs" || info_.name == "fstatfs")
        return append_statfs(out, *bytes, limits_);
    if (info_.name == "utimensat") return append_timespecs(out, *bytes, limits_);
    if (is_one_of(info_.name, {"utimes", "futimesat"})) return append_timevals(out, *bytes);
    return false;
}

bool CallText::print_stat(std::string& out, std::size_t index) const {
    const auto bytes = structure(index);
    return bytes && !failed() && append_stat(out, *bytes, detail_.whole, limits_);
}

bool CallText::print_timespec(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && append_timespec(out, *bytes);
}

bool CallText::print_fd_set(std::string& out, std::size_t index) const {
    const auto bits = attached(Attachment::kStructure, index);
    return bits && append_fd_set(out, *bits, static_cast<std::uint32_t>(value(0)));
}

bool CallText::print_option(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    const bool given = type_of(index) == "option_in";
    const bool has_length = !given || static_cast<std::int32_t>(value(4)) >= 0;
    const bool is_whole = !given || (bytes && bytes->size() == value(4));
    const bool has_exact_length =
        value(1) == SOL_PACKET;  // its structures are taken whole or not at all
    return bytes && has_length && (is_whole || !has_exact_length) &&
           append_socket_option(out, value(1), value(2), *bytes, given, limits_);
}

// [16], or [128 => 16] if the call changed it.
bool CallText::print_length_pointer(std::string& out, std::size_t index) const {
    std::int32_t length[2] = {};
    const auto before = attached(Attachment::kStructure, index);
    const auto after = attached_after(index);
    if (!before || before->size() < sizeof(length[0])) {
        return false;
    }
    std::memcpy(&length[0], before->data(), sizeof(length[0]));
    length[1] = length[0];
    if (!failed() && after && after->size() >= sizeof(length[1])) {
        std::memcpy(&length[1], after->data(), sizeof(length[1]));
    }
    out.append(length[0] == length[1] ? fmt::format("[{}]", length[0])
                                      : fmt::format("[{} => {}]", length[0], length[1]));
    return true;
}

// The kernel looks at no set of another size.
bool CallText::print_signal_set(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    const bool has_size = index + 1 >= info_.argument_count || type_of(index + 1) != "ulong" ||
                          value(index + 1) == kSignalSetBytes;
    return bytes && has_size && append_signal_set(out, *bytes);
}

// Memory of another process: addresses.
bool CallText::print_remote_vectors(std::string& out, std::size_t index) const {
    const auto vectors = attached(Attachment::kStructure, index);
    return vectors &&
           append_iovecs(out, *vectors, value(index), value(index + 1), {}, std::nullopt, limits_);
}

bool CallText::print_poll_set(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && append_pollfds(out, *bytes, value(index), value(index + 1), false, limits_);
}

bool CallText::print_texts(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && append_texts(out, *bytes, limits_);
}

bool CallText::print_environment(std::string& out, std::size_t index) const {
    append_address(out, index);
    if (const auto bytes = attached(Attachment::kStructure, index)) {
        append_variable_count(out, *bytes);
    }
    return true;
}

bool CallText::print_epoll_events(std::string& out, std::size_t index) const {
    const auto bytes = structure(index);
    return bytes && !failed() && append_epoll_events(out, *bytes, moved(), limits_);
}

// In 32-bit programs an offset of 64 bits comes in two registers.
bool CallText::print_offset(std::string& out, std::size_t index) const {
    std::int64_t offset = signed_value(index);
    const bool split =
        index + 1 < info_.argument_count && info_.arguments[index + 1].type == "offset_high";
    if (split && schema::is_of_32_bits(info_.abi)) {
        offset = static_cast<std::int64_t>((value(index + 1) << 32) | value(index));
    }
    out.append(info_.name.starts_with("mmap") ? hex(value(index)) : fmt::format("{}", offset));
    return true;
}

bool CallText::print_offset_pointer(std::string& out, std::size_t index) const {
    const auto before = attached(Attachment::kStructure, index);
    const auto after = attached_after(index);
    const bool is_unsigned = info_.name.starts_with("sendfile");
    if (!before || !(is_unsigned ? append_ulong(out, *before) : append_long(out, *before))) {
        return false;
    }
    if (info_.name.starts_with("sendfile") && moved() > 0 && after) {
        out.append(" => ");  // strace shows it of no other call
        append_ulong(out, *after);
    }
    return true;
}

// A set of CPUs is a set of bits like one of descriptors; how many bytes of it mean something is beside it, or returned.
bool CallText::print_cpu_set(std::string& out, std::size_t index) const {
    const bool inward = type_of(index) == "cpu_set_in";
    const auto bits = attached(Attachment::kPreview, index);
    return bits && detail_.verbose && (inward || !failed()) &&
           append_fd_set(out, *bits, bits->size() * 8);
}

// Always in hexadecimal, as there is no text in it.
bool CallText::print_random(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kPreview, index);
    if (!bytes || failed()) {
        return false;
    }
    out.push_back('"');
    for (const char byte : bytes->substr(0, limits_.text_max)) {
        print(out, "\\x{:02x}", static_cast<unsigned char>(byte));
    }
    out.append(moved() > limits_.text_max ? "\"..." : "\"");
    return true;
}

bool CallText::print_request(std::string& out, std::size_t index) const {
    out.append(request_text(value(index), limits_.constants));
    return true;
}

// clone has its arguments in an order that differs between machines; strace names them.
void CallText::append_clone(std::string& out) const {
    const std::uint64_t flags = value(0);
    const std::size_t tls = info_.arguments[3].name == "tls" ? 3 : 4, child = tls == 3 ? 4 : 3;
    print(out,
          "child_stack={}, flags={}",
          pointer_text(value(1)),
          constant_text("clone_flags", flags, limits_.constants));
    if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) != 0) {
        out.append(", parent_tid=");
        if ((flags & CLONE_PARENT_SETTID) != 0 && moved() > 0) {
            out.push_back('[');
            limits_.pids.append(out, event_.result);
            out.push_back(']');
        } else {
            append_address(out, 2);
        }
    }
    if ((flags & CLONE_SETTLS) != 0) {
        print(out, ", tls={}", pointer_text(value(tls)));
    }
    if ((flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0) {
        print(out, ", child_tidptr={}", pointer_text(value(child)));
    }
}

}  // namespace dyetrace::format
