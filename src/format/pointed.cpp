// Arguments that point to structures: see structure.h for how these look.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "format/argument.h"
#include "schema/flags.h"

namespace dyetrace::format {

using schema::Attachment;

bool CallText::print_structure(std::string& out, std::size_t index) const {
    const auto bytes = attached(Attachment::kStructure, index);
    if (!bytes) {
        return false;
    }
    const std::string_view type = info_.arguments[index].type;
    if (type == "open_how") return append_open_how(out, *bytes);
    if (type == "clone_args") return append_clone_args(out, *bytes);
    if (type == "fd_pair") return append_int_pair(out, *bytes);
    if (type == "wait_status") return event_.result > 0 && append_wait_status(out, *bytes);
    if (type == "rlimit_in") return append_rlimit(out, *bytes);
    if (type == "rlimit_out") return !failed() && append_rlimit(out, *bytes);
    if (type == "epoll_event") return append_epoll_event(out, *bytes);
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

bool CallText::print_fcntl_argument(std::string& out, std::size_t index) const {
    const std::string command = schema::flags_text("fcntl_command", value(1));
    if (command == "F_SETFL") {
        schema::append_argument(out, "open_flags", value(index));
    } else if (command == "F_SETFD") {
        schema::append_argument(out, "close_on_exec", value(index));
    } else if (command == "F_ADD_SEALS") {
        schema::append_argument(out, "seals", value(index));
    } else if (is_one_of(command,
                         {"F_GETLK",
                          "F_SETLK",
                          "F_SETLKW",
                          "F_OFD_GETLK",
                          "F_OFD_SETLK",
                          "F_OFD_SETLKW"})) {
        const auto bytes = attached(Attachment::kStructure, index);
        return bytes && append_flock(out, *bytes, is_one_of(command, {"F_GETLK", "F_OFD_GETLK"}));
    } else {
        fmt::format_to(std::back_inserter(out), "{}", signed_value(index));
    }
    return true;
}

}  // namespace dyetrace::format
