#include "format/argument.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <span>

#include "format/bytes.h"
#include "format/quote.h"
#include "schema/errors.h"
#include "schema/flags.h"
#include "schema/shared/preview.h"

namespace dyetrace::format {
namespace {

using schema::Attachment;
using schema::SyscallEvent;

constexpr std::size_t kPathMax = 4096;  // PATH_MAX: paths are never cut by -s, as in strace

constexpr std::uint64_t kMountMagic = 0xc0ed0000, kMountMagicMask = 0xffff0000;  // MS_MGC_VAL
constexpr std::size_t kAttributeMax = 65536;                                     // XATTR_SIZE_MAX

// Whether mount with these flags looks at no type, or no data.
bool is_unread_by_mount(std::uint64_t flags, bool is_type) {
    const std::uint64_t kept =
        (flags & kMountMagicMask) == kMountMagic ? flags & ~kMountMagicMask : flags;
    constexpr std::uint64_t kMoves =
        MS_BIND | MS_MOVE | MS_UNBINDABLE | MS_PRIVATE | MS_SLAVE | MS_SHARED;
    return (kept & (kMoves | (is_type ? MS_REMOUNT : 0))) != 0;
}

// Whether this operation of futex looks at the argument.
bool is_of_futex(std::uint64_t operation, std::size_t index) {
    constexpr std::uint64_t kCommand = 0x7f;
    switch (operation & kCommand) {
        case 0:  // FUTEX_WAIT
            return index <= 3;
        case 1:  // FUTEX_WAKE
        case 2:  // FUTEX_FD
            return index <= 2;
        case 6:   // FUTEX_LOCK_PI
        case 13:  // FUTEX_LOCK_PI2
            return index <= 3 && index != 2;
        case 7:  // FUTEX_UNLOCK_PI
        case 8:  // FUTEX_TRYLOCK_PI
            return index <= 1;
        case 9:  // FUTEX_WAIT_BITSET
            return index != 4;
        case 10:  // FUTEX_WAKE_BITSET
            return index <= 2 || index == 5;
        default:
            return true;
    }
}

}  // namespace

CallText::CallText(const SyscallEvent& event,
                   const schema::SyscallInfo& info,
                   const schema::Dictionary& dictionary,
                   Names names,
                   const Limits& limits,
                   const CallDetail& detail)
    : event_(event),
      info_(info),
      dictionary_(dictionary),
      names_(names),
      limits_(limits),
      detail_(detail) {
    if (detail.whole) {
        limits_.items_max = ~std::size_t{0};
    }
}

std::uint64_t CallText::value(std::size_t index) const {
    const std::uint64_t raw = event_.arguments[index];
    return schema::is_of_32_bits(info_.abi) ? raw & 0xffffffffu : raw;
}

std::int64_t CallText::signed_value(std::size_t index) const {
    const std::uint64_t raw = event_.arguments[index];
    return schema::is_of_32_bits(info_.abi) ? static_cast<std::int32_t>(raw)
                                            : static_cast<std::int64_t>(raw);
}

bool CallText::failed() const {
    return has(SyscallEvent::kHasResult) && event_.result < 0 && event_.result >= -4095;
}

std::size_t CallText::moved() const {
    return has(SyscallEvent::kHasResult) && event_.result > 0
               ? static_cast<std::size_t>(event_.result)
               : 0;
}

// structure and preview: u8 argument index, u8 reserved[7], then the bytes.
std::optional<std::string_view> CallText::attached(Attachment kind, std::size_t index) const {
    constexpr std::size_t kPrefix = 8;
    if (kind == Attachment::kStructure && !detail_.verbose) {
        return std::nullopt;
    }
    const schema::RecordBytes record(reinterpret_cast<const std::byte*>(&event_),
                                     event_.header.size);
    std::size_t at = sizeof(event_);
    while (at + sizeof(schema::AttachmentHeader) <= record.size()) {
        schema::AttachmentHeader header{};
        std::memcpy(&header, record.data() + at, sizeof(header));
        at += sizeof(header);
        if (header.kind == 0 || header.length > record.size() - at) {
            break;
        }
        const bool meant =
            header.kind == static_cast<std::uint16_t>(kind) && header.length >= kPrefix;
        if (meant && static_cast<std::size_t>(record[at]) == index) {
            return std::string_view(reinterpret_cast<const char*>(record.data() + at + kPrefix),
                                    header.length - kPrefix);
        }
        at += (header.length + std::size_t{7}) & ~std::size_t{7};
    }
    return std::nullopt;
}

std::optional<std::string_view> CallText::attached_after(std::size_t index) const {
    return attached(Attachment::kStructure, index | PREVIEW_AFTER);
}

// What `dirfd` stands for: what a relative path starts from, the object itself where the path is empty, and what src/kernel
// gives as the second object where the first is another one.
const schema::Object* CallText::directory(std::size_t index) const {
    const auto path = schema::attachment(event_, Attachment::kPath);
    const bool is_empty = !path || path->empty();
    const bool starts = has(SyscallEvent::kHasNamesBase) && path && !path->starts_with('/');
    const bool is_itself =
        !has(SyscallEvent::kHasNamesBase) && is_empty &&
        (has(SyscallEvent::kHasFd) || static_cast<std::int32_t>(value(index)) == AT_FDCWD);
    if (has(SyscallEvent::kHasHandle) && (starts || is_itself)) {
        return dictionary_.object(event_.handle_id);
    }
    return has(SyscallEvent::kHasHandle2) && has(SyscallEvent::kHasNamesBase2)
               ? dictionary_.object(event_.handle2_id)
               : nullptr;
}

// The object that a descriptor refers to: of `fd` the first of the event, of `fd2` and `dirfd2` the second. Calls that
// make a descriptor have the new one first; then the one they were given may be the second.
const schema::Object* CallText::object_of(std::size_t index) const {
    const std::string_view type = info_.arguments[index].type;
    if (type == "dirfd") {
        return directory(index);
    }
    const bool is_base = type == "dirfd2";
    const bool is_other = type == "fd" && has(SyscallEvent::kHasFd) && type_of(1) != "descriptor" &&
                          event_.fd != static_cast<std::int32_t>(value(index));
    const bool second = type == "fd2" || type == "dirfd2" || type == "descriptor" || is_other;
    const bool handle_is_base =
        has(second ? SyscallEvent::kHasNamesBase2 : SyscallEvent::kHasNamesBase);
    if (!has(second ? SyscallEvent::kHasHandle2 : SyscallEvent::kHasHandle) ||
        is_base != handle_is_base) {
        return nullptr;
    }
    return dictionary_.object(second ? event_.handle2_id : event_.handle_id);
}

void CallText::append_address(std::string& out, std::size_t index) const {
    if (value(index) == 0) {
        out.append("NULL");
    } else {
        fmt::format_to(std::back_inserter(out), "{:#x}", value(index));
    }
}

bool CallText::creates() const {
    for (std::size_t i = 0; i < info_.argument_count; ++i) {
        if (info_.arguments[i].type.starts_with("open_flags")) {
            return (value(i) & (O_CREAT | 020000000u)) != 0;  // or __O_TMPFILE
        }
    }
    return true;
}

bool CallText::is_shown(std::size_t index) const {
    if (index >= info_.argument_count) {
        return false;
    }
    const std::string_view type = type_of(index);
    if (type == "offset_high") {
        return false;
    }
    if (detail_.raw) {
        return true;
    }
    if (type == "permissions" && is_one_of(info_.name, {"open", "openat"})) {
        return creates();
    }
    if (info_.name.starts_with("futex") && info_.name != "futex_waitv" &&
        info_.argument_count == 6) {
        return is_of_futex(value(1), index);
    }
    // what prctl does not look at is not shown either
    if (info_.name == "mremap" && index == 4) {
        constexpr std::uint64_t kMovesThere = 3;  // MREMAP_MAYMOVE|MREMAP_FIXED
        return (value(3) & kMovesThere) == kMovesThere;
    }
    if (type == "device" && index > 0 && type_of(index - 1) == "mode") {
        return S_ISCHR(value(index - 1)) || S_ISBLK(value(index - 1));
    }
    const bool is_known = info_.name == "prctl" && type_of(1) != "ulong" && !is_sched_core();
    return !(is_known && index > 1) && type_of(index) != "none";
}

schema::ArgumentInfo CallText::argument_at(std::size_t index) const {
    return schema::argument_of(info_, index, std::span<const std::uint64_t, 6>(event_.arguments));
}

void CallText::append_arguments(std::string& out) const {
    if (info_.name == "clone" && !detail_.raw) {
        append_clone(out);
        return;
    }
    bool first = true;
    for (std::size_t i = 0; i < info_.argument_count; ++i) {
        if (is_shown(i)) {
            out.append(first ? "" : ", ");
            first = false;
            append_argument(out, i);
        }
    }
}

void CallText::append_argument(std::string& out, std::size_t index) const {
    if (detail_.raw) {
        out.append(hex(value(index)));
        return;
    }
    const schema::ArgumentInfo argument = argument_at(index);
    if (is_sched_core() && index >= 2) {
        append_sched_core(out, index);
        return;
    }
    if (!(this->*printer_of(argument))(out, index)) {
        append_address(out, index);
    }
}

// NOLINTNEXTLINE(readability-function-size): a table
CallText::Printer CallText::printer_of(const schema::ArgumentInfo& argument) {
    static constexpr std::array kPrinters{
        TypePrinter{"fd", &CallText::print_descriptor},
        TypePrinter{"fd2", &CallText::print_descriptor},
        TypePrinter{"dirfd", &CallText::print_descriptor},
        TypePrinter{"dirfd2", &CallText::print_descriptor},
        TypePrinter{"path", &CallText::print_path},
        TypePrinter{"path2", &CallText::print_path2},
        TypePrinter{"name", &CallText::print_name},
        TypePrinter{"name2", &CallText::print_name},
        TypePrinter{"text_out", &CallText::print_bytes},
        TypePrinter{"bytes_in", &CallText::print_bytes},
        TypePrinter{"bytes_out", &CallText::print_bytes},
        TypePrinter{"iovec_in", &CallText::print_vectors},
        TypePrinter{"iovec_out", &CallText::print_vectors},
        TypePrinter{"message_in", &CallText::print_message},
        TypePrinter{"message_out", &CallText::print_message},
        TypePrinter{"address_in", &CallText::print_socket_address},
        TypePrinter{"address_out", &CallText::print_socket_address},
        TypePrinter{"stat_out", &CallText::print_stat},
        TypePrinter{"timespec", &CallText::print_timespec},
        TypePrinter{"timespec_or_value", &CallText::print_timespec},
        TypePrinter{"poll_set", &CallText::print_poll_set},
        TypePrinter{"epoll_events", &CallText::print_epoll_events},
        TypePrinter{"offset", &CallText::print_offset},
        TypePrinter{"long", &CallText::print_offset},
        TypePrinter{"length", &CallText::print_offset},
        TypePrinter{"offset_low", &CallText::print_offset},
        TypePrinter{"offset_pointer", &CallText::print_offset_pointer},
        TypePrinter{"offset_pointer2", &CallText::print_offset_pointer},
        TypePrinter{"address", &CallText::print_pointer},
        TypePrinter{"pointer", &CallText::print_pointer},
        TypePrinter{"text_list", &CallText::print_texts},
        TypePrinter{"environment", &CallText::print_environment},
        TypePrinter{"fd_set", &CallText::print_fd_set},
        TypePrinter{"option_in", &CallText::print_option},
        TypePrinter{"option_out", &CallText::print_option},
        TypePrinter{"length_pointer", &CallText::print_length_pointer},
        TypePrinter{"value_in", &CallText::print_bytes},
        TypePrinter{"value_out", &CallText::print_bytes},
        TypePrinter{"messages_in", &CallText::print_messages},
        TypePrinter{"messages_out", &CallText::print_messages},
        TypePrinter{"descriptor", &CallText::print_descriptor},
        TypePrinter{"dirents_out", &CallText::print_entries},
        TypePrinter{"mask_in", &CallText::print_mask},
        TypePrinter{"iovec_local_in", &CallText::print_vectors},
        TypePrinter{"iovec_local_out", &CallText::print_vectors},
        TypePrinter{"iovec_remote", &CallText::print_remote_vectors},
        TypePrinter{"sigset_in", &CallText::print_signal_set},
        TypePrinter{"text_in", &CallText::print_text},
        TypePrinter{"control_blocks", &CallText::print_pointer},
        TypePrinter{"io_events", &CallText::print_pointer},
        TypePrinter{"cpu_set_in", &CallText::print_cpu_set},
        TypePrinter{"cpu_set_out", &CallText::print_cpu_set},
        TypePrinter{"random_out", &CallText::print_random},
        TypePrinter{"comm_in", &CallText::print_text},
        TypePrinter{"comm_out", &CallText::print_text},
        TypePrinter{"ioctl_command", &CallText::print_request},
        TypePrinter{"ulong", &CallText::print_long_word},
        TypePrinter{"pid", &CallText::print_pid},
        TypePrinter{"group", &CallText::print_pid},
        TypePrinter{"pid_or_group", &CallText::print_pid},
        TypePrinter{"pid_by_kind", &CallText::print_pid},
        TypePrinter{"offset_pages", &CallText::print_long_word},
    };
    for (const TypePrinter& entry : kPrinters) {
        if (entry.type == argument.type) {
            return entry.printer;
        }
    }
    return argument.is_scalar ? &CallText::print_plain : &CallText::print_structure;
}

bool CallText::print_descriptor(std::string& out, std::size_t index) const {
    const std::string_view type = info_.arguments[index].type;
    const bool may_be_directory = type == "dirfd" || type == "dirfd2";
    out.append(constant_text(may_be_directory ? "dirfd" : "fd", value(index), limits_.constants));
    if (const schema::Object* object = object_of(index)) {
        append_object(out, *object, names_);
    }
    return true;
}

bool CallText::print_path(std::string& out, std::size_t) const {
    const auto path = schema::attachment(event_, Attachment::kPath);
    if (path) {
        append_quoted(out,
                      *path,
                      kPathMax,
                      event_.result == -ENAMETOOLONG && path->size() + 1 >= kPathMax,
                      limits_.quotes);
    }
    return path.has_value();
}

bool CallText::print_path2(std::string& out, std::size_t) const {
    const auto path = schema::attachment(event_, Attachment::kPath2);
    if (path) {
        append_quoted(out, *path, kPathMax, false, limits_.quotes);
    }
    return path.has_value();
}

bool CallText::print_name(std::string& out, std::size_t index) const {
    const bool second = type_of(index) == "name2";
    if (info_.name == "mount" && second && is_unread_by_mount(value(3), true)) {
        return false;
    }
    const auto name = schema::attachment(event_, second ? Attachment::kName2 : Attachment::kName);
    if (name) {
        append_quoted(out, *name, limits_.text_max, false, limits_.quotes);
    }
    return name.has_value();
}

bool CallText::print_text(std::string& out, std::size_t index) const {
    const auto text = attached(Attachment::kPreview, index);
    if (info_.name == "mount" && is_unread_by_mount(value(3), false)) {
        return false;
    }
    if (text) {
        append_quoted(out, *text, limits_.text_max, false, limits_.quotes);
    }
    return text.has_value();
}

bool CallText::print_bytes(std::string& out, std::size_t index) const {
    const std::string_view type = info_.arguments[index].type;
    const auto data = attached(Attachment::kPreview, index);
    const bool inward = type == "bytes_in" || type == "value_in";
    if (!data || (!inward && failed())) {
        return false;
    }
    const auto room = index + 1 < 6 ? static_cast<std::size_t>(value(index + 1)) : 0;
    const bool is_attribute = index + 1 < 6 && info_.name.ends_with("xattr");
    if (is_attribute && type_of(index - 1) == "name" && room > kAttributeMax) {
        return false;
    }
    std::size_t whole = inward ? room : std::min(room, moved());
    std::string_view shown = data->substr(0, whole);
    if (is_attribute && type_of(index - 1) == "name" && shown.size() == whole &&
        shown.ends_with('\0')) {
        shown.remove_suffix(1);
        whole -= 1;
    }
    if (info_.name == "getcwd" && !shown.empty()) {
        append_quoted(out, shown.substr(0, shown.find('\0')), kPathMax, false, limits_.quotes);
    } else {
        append_quoted(out, shown, limits_.text_max, shown.size() < whole, limits_.quotes);
    }
    return true;
}

bool CallText::print_vectors(std::string& out, std::size_t index) const {
    const auto vectors = attached(Attachment::kStructure, index);
    if (!vectors) {
        return false;
    }
    const bool inward = info_.arguments[index].type.ends_with("_in");
    const auto whole = inward     ? std::optional(kMovesAll)
                       : failed() ? std::nullopt
                                  : std::optional(moved());
    return append_iovecs(out,
                         *vectors,
                         value(index),
                         value(index + 1),
                         VectorBytes(attached(Attachment::kPreview, index).value_or("")),
                         whole,
                         limits_);
}

// When receiving failed, only the room for a name says something.
bool CallText::print_message(std::string& out, std::size_t index) const {
    const bool inward = info_.arguments[index].type == "message_in";
    const std::size_t tag = inward ? index : index | PREVIEW_AFTER;
    const auto before = inward ? std::nullopt : attached(Attachment::kStructure, index);
    const auto room =
        before ? read_at<std::uint32_t>(*before, offsetof(msghdr, msg_namelen)) : std::nullopt;
    if (!inward && failed()) {
        if (room) {
            print(out, "{{msg_namelen={}}}", static_cast<std::int32_t>(*room));
        }
        return room.has_value();
    }
    return append_msghdr(
        out,
        {.bytes = attached(Attachment::kStructure, tag).value_or(""),
         .name = schema::attachment(event_, Attachment::kAddress).value_or(""),
         .data = VectorBytes(attached(Attachment::kPreview, tag).value_or("")),
         .control = attached(Attachment::kStructure, tag | PREVIEW_CONTROL).value_or(""),
         .moved = inward ? kMovesAll : moved(),
         .name_room = room},
        limits_);
}

bool CallText::print_socket_address(std::string& out, std::size_t index) const {
    const auto address = schema::attachment(event_, Attachment::kAddress);
    return value(index) != 0 && detail_.verbose && address &&
           append_sockaddr(out, *address, limits_);
}

bool CallText::print_pointer(std::string& out, std::size_t index) const {
    append_address(out, index);
    return true;
}

bool CallText::print_plain(std::string& out, std::size_t index) const {
    const std::string_view type = type_of(index);
    if (type == "int" && info_.name == "socket" && (value(0) == AF_INET || value(0) == AF_INET6)) {
        out.append(constant_text("ip_protocol", value(index), limits_.constants));
    } else if (type == "device") {
        out.append(constant_text(hex(value(index)), device_text(value(index)), limits_.constants));
    } else if (type == "mode") {
        out.append(mode_text(static_cast<std::uint16_t>(value(index)), limits_.constants));
    } else if (type == "mount_flags" && (value(index) & kMountMagicMask) == kMountMagic) {
        const std::uint64_t rest = value(index) & ~kMountMagicMask;
        out.append(constant_text(type, kMountMagic, limits_.constants));
        out.append(rest != 0 ? "|" + constant_text(type, rest, limits_.constants) : "");
    } else if (type == "mmap_flags") {
        out.append(map_flags_text(value(index), limits_.constants));
    } else if (type == "memfd_flags") {
        out.append(memfd_flags_text(value(index), limits_.constants));
    } else if (type == "socket_option") {
        out.append(socket_option_text(value(index - 1), value(index), limits_.constants));
    } else if (info_.name == "ioprio_set" && index == 2) {
        const auto priority = static_cast<std::uint32_t>(value(index));
        out.append(constant_text(std::to_string(static_cast<std::int32_t>(priority)),
                                 io_priority_text(priority),
                                 limits_.constants));
    } else if (info_.name == "rseq" && index != 2) {
        out.append(hex(value(index)));
    } else if (info_.name == "futex" && index == 5) {
        out.append(value(index) == 0xffffffffu ? "FUTEX_BITSET_MATCH_ANY" : hex(value(index)));
    } else {
        std::array<std::uint64_t, 6> arguments{};
        std::copy(std::begin(event_.arguments), std::end(event_.arguments), arguments.begin());
        const std::uint64_t number =
            schema::is_of_32_bits(info_.abi) && schema::find_flag_set(type) == nullptr
                ? value(index)
                : schema::argument_value(info_, index, arguments);
        out.append(constant_text(type, number, limits_.constants));
    }
    return true;
}

}  // namespace dyetrace::format
