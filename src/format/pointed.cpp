// Arguments that point to structures: see structure.h for how these look.
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>

#include "format/argument.h"
#include "format/bytes.h"
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
    Structure{"open_how", append_open_how, false},
    Structure{"fd_pair", append_int_pair, false},
    Structure{"rlimit_in", append_rlimit, false},
    Structure{"rlimit_out", append_rlimit, true},
    Structure{"epoll_event", append_epoll_event, false},
    Structure{"sigaction_in", append_signal_action, false},
    Structure{"sigaction_out", append_signal_action, true},
    Structure{"sigset_in", append_signal_set, false},
    Structure{"sigset_out", append_signal_set, true},
    Structure{"signal_stack_in", append_signal_stack, false},
    Structure{"signal_stack_out", append_signal_stack, true},
    Structure{"signal_out", append_signal_number, true},
    Structure{"sysinfo_out", append_sysinfo, true},
    Structure{"timespec_out", append_timespec, true},
    Structure{"timeval_out", append_timeval, true},
    Structure{"itimerval_in", append_itimerval, false},
    Structure{"itimerval_out", append_itimerval, true},
    Structure{"itimerspec_in", append_itimerspec, false},
    Structure{"itimerspec_out", append_itimerspec, true},
    Structure{"capability_header", append_capability_header, false},
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

constexpr std::array kAbridged{
    AbridgedStructure{"utsname_out", append_utsname},
    AbridgedStructure{"rusage_out", append_rusage},
};

}  // namespace

bool CallText::print_structure(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
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
            return !failed() && structure.append(out, *bytes, detail_.whole);
        }
    }
    if (type == "clone_args") return append_clone_args(out, *bytes, event_.result);
    if (type == "flock_in") return append_flock(out, *bytes, false);
    if (type == "flock_out") return !failed() && append_flock(out, *bytes, true);
    if (type == "wait_status") return event_.result > 0 && append_wait_status(out, *bytes);
    if (type == "interface") {
        return append_interface(out, *bytes, request_text(value(1)), !failed());
    }
    if (failed() && type == "structure_out") return false;
    if (info_.name == "statx") return append_statx(out, *bytes, detail_.whole);
    if (info_.name == "statfs" || info_.name == "fstatfs")
        return append_statfs(out, *bytes, detail_.whole);
    if (info_.name == "utimensat") return append_timespecs(out, *bytes);
    if (is_one_of(info_.name, {"select", "_newselect"})) return append_timeval(out, *bytes);
    return false;
}

bool CallText::print_stat(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && !failed() && append_stat(out, *bytes, detail_.whole);
}

bool CallText::print_timespec(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && append_timespec(out, *bytes);
}

bool CallText::print_fd_set(std::string& out, std::size_t index) const {
    const auto bits = attached(Attachment::kStructure, index);
    return bits && append_fd_set(out, *bits);
}

bool CallText::print_option(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && append_socket_option(out, value(1), value(2), *bytes);
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

bool CallText::print_poll_set(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && append_pollfds(out, *bytes, value(index + 1), false, limits_);
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
    const auto bytes = attached(Attachment::kStructure, index);
    return bytes && !failed() && append_epoll_events(out, *bytes, moved(), limits_);
}

// On i386 an offset of 64 bits comes in two registers.
bool CallText::print_offset(std::string& out, std::size_t index) const {
    std::int64_t offset = signed_value(index);
    const bool split =
        index + 1 < info_.argument_count && info_.arguments[index + 1].type == "offset_high";
    if (split && info_.abi == schema::Abi::kI386) {
        offset = static_cast<std::int64_t>((value(index + 1) << 32) | value(index));
    }
    out.append(info_.name.starts_with("mmap") ? hex(value(index)) : fmt::format("{}", offset));
    return true;
}

bool CallText::print_offset_pointer(std::string& out, std::size_t index) const {
    const auto before = attached(Attachment::kStructure, index);
    const auto after = attached_after(index);
    if (!before || !append_long(out, *before)) {
        return false;
    }
    if (info_.name.starts_with("sendfile") && moved() > 0 && after) {
        out.append(" => ");  // strace shows it of no other call
        append_long(out, *after);
    }
    return true;
}

// A set of CPUs is a set of bits like one of descriptors; how many bytes of it mean something is beside it, or returned.
bool CallText::print_cpu_set(std::string& out, std::size_t index) const {
    const bool inward = type_of(index) == "cpu_set_in";
    const auto bits = attached(Attachment::kPreview, index);
    return bits && detail_.verbose && (inward || !failed()) && append_fd_set(out, *bits);
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
    out.append(request_text(value(index)));
    return true;
}

// What a command has no choice for may be an address or a number.
bool CallText::print_word(std::string& out, std::size_t index) const {
    out.append(hex(value(index)));
    return true;
}

// clone has its arguments in an order that differs between machines; strace names them.
void CallText::append_clone(std::string& out) const {
    const std::uint64_t flags = value(0);
    const std::size_t tls = info_.arguments[3].name == "tls" ? 3 : 4, child = tls == 3 ? 4 : 3;
    print(out,
          "child_stack={}, flags={}",
          pointer_text(value(1)),
          schema::flags_text("clone_flags", flags));
    if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) != 0) {
        const bool known = (flags & CLONE_PARENT_SETTID) != 0 && moved() > 0;
        print(out,
              ", parent_tid={}",
              known ? fmt::format("[{}]", event_.result) : pointer_text(value(2)));
    }
    if ((flags & CLONE_SETTLS) != 0) {
        print(out, ", tls={}", pointer_text(value(tls)));
    }
    if ((flags & (CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID)) != 0) {
        print(out, ", child_tidptr={}", pointer_text(value(child)));
    }
}

}  // namespace dyetrace::format
