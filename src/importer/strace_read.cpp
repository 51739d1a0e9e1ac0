// Arguments of a call as strace prints them: registers, objects, texts, ranges.
#include <algorithm>
#include <array>
#include <utility>

#include "importer/strace_calls.h"
#include "importer/strace_line.h"
#include "importer/syscall_names.h"
#include "importer/words.h"

namespace dyetrace::importer {
namespace {

using schema::SyscallEvent;

// strace prints clone by the names of its arguments, as the registers of machines differ.
std::vector<std::string_view> arranged(std::string_view name,
                                       std::vector<std::string_view> arguments) {
    if (name != "clone") {
        return arguments;
    }
    constexpr std::array<std::string_view, 5> kRegisters = {
        "flags=", "child_stack=", "parent_tid=", "child_tidptr=", "tls="};
    std::vector<std::string_view> registers(kRegisters.size(), "NULL");
    for (const std::string_view argument : arguments) {
        for (std::size_t i = 0; i < kRegisters.size(); ++i) {
            if (argument.starts_with(kRegisters[i])) {
                registers[i] = argument.substr(kRegisters[i].size());
            }
        }
    }
    return registers;
}

// "[0] => [3]", "[16]": the first number; nothing for NULL.
std::optional<std::uint64_t> pointed_number(std::string_view text) {
    if (!text.starts_with('[')) {
        return std::nullopt;
    }
    return argument_number("ulong", text.substr(1, std::min(text.find(']'), text.size()) - 1));
}

}  // namespace

std::optional<StraceCalls::Reading> StraceCalls::read(LogThread& thread,
                                                      std::string_view text,
                                                      bool has_returned,
                                                      const Place& place) {
    Reading reading{.thread = &thread,
                    .begun = std::move(*thread.call),
                    .info = nullptr,
                    .arguments = {},
                    .result = std::nullopt,
                    .end_ns = 0,
                    .place = place};
    thread.call.reset();
    const std::size_t open = text.find('(');
    reading.info = find_call(reading.begun.name);
    std::size_t close = text.size();
    if (has_returned) {
        close = open == std::string_view::npos ? open : end_of_arguments(text, open);
        reading.result =
            close == std::string_view::npos ? std::nullopt : call_result(text.substr(close + 1));
        if (!reading.result) {
            problems_->add_lost("a call whose result cannot be read", place);
            abandon(thread, reading.begun);
            return std::nullopt;
        }
        if (!reading.result->is_known) {
            problems_->add_doubt("an error whose number is not known: -1 stands for it", place);
        }
    }
    if (open != std::string_view::npos && reading.info != nullptr) {
        reading.arguments =
            arranged(reading.begun.name, split_arguments(text.substr(open + 1, close - open - 1)));
    }
    return reading;
}

void StraceCalls::read_argument(Reading& reading, std::size_t index) {
    const std::string_view text = reading.arguments[index];
    const schema::ArgumentInfo argument =
        schema::argument_of(*reading.info, index, reading.event.arguments);
    const std::string_view type = argument.type;
    if (read_object_argument(reading, index, type, text) ||
        read_text_argument(reading, index, type, text) ||
        read_range_argument(reading, index, type, text)) {
        return;
    }
    if (type == "open_how") {
        const auto flags = argument_number("open_flags", member_of(text, "flags"));
        reading.open_flags =
            flags ? std::optional(static_cast<std::uint32_t>(*flags)) : std::nullopt;
        return;
    }
    if (!argument.is_scalar &&
        type != "open_flags") {  // a pointer; what it points to has no column
        reading.event.arguments[index] = argument_number("address", text).value_or(0);
        return;
    }
    read_number(reading, index, type, text);
    if (type == "open_flags") {
        reading.open_flags = static_cast<std::uint32_t>(reading.event.arguments[index]);
    }
}

void StraceCalls::read_number(Reading& reading,
                              std::size_t index,
                              std::string_view type,
                              std::string_view text) {
    if (const auto number = argument_number(type, text)) {
        reading.event.arguments[index] = *number;
    } else if (const auto descriptor = descriptor_in(text)) {  // dup2(3</tmp/x>, 0</dev/null>)
        reading.event.arguments[index] =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(descriptor->fd));
    } else if (!text.starts_with('{') && !text.starts_with('[') && !text.starts_with('"')) {
        problems_->add_doubt("an argument in words that have no number here: 0 stands for it",
                             reading.place);
    }
}

bool StraceCalls::read_object_argument(Reading& reading,
                                       std::size_t index,
                                       std::string_view type,
                                       std::string_view text) {
    if (!is_one_of(type, {"fd", "fd2", "dirfd", "dirfd2", "fd_pair"})) {
        return false;
    }
    SyscallEvent& event = reading.event;
    if (type == "fd_pair") {
        return true;  // what the call made
    }
    const auto descriptor = descriptor_in(text);
    const auto number = descriptor ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(
                                         static_cast<std::int64_t>(descriptor->fd)))
                                   : argument_number("int", text);
    event.arguments[index] = number.value_or(0);
    if (type == "fd" || type == "dirfd") {
        event.fd = static_cast<std::int32_t>(event.arguments[index]);
        event.present |= SyscallEvent::kHasFd;
    }
    if (!descriptor) {
        return true;
    }
    if (descriptor->is_cwd) {
        auto& base = type == "dirfd" ? reading.base : reading.base2;
        base =
            descriptor->of ? std::optional(descriptor->of->path) : reading.thread->process->folder;
        return true;
    }
    std::shared_ptr<OpenFile> file = objects_->resolve(table_of(reading), *descriptor);
    if (type == "fd") {
        reading.file = std::move(file);
    } else if (type == "fd2") {
        reading.file2 = std::move(file);
    } else if (file != nullptr && !file->object->facts.path.empty()) {
        (type == "dirfd" ? reading.base : reading.base2) = file->object->facts.path;
    }
    return true;
}

bool StraceCalls::read_text_argument(Reading& reading,
                                     std::size_t index,
                                     std::string_view type,
                                     std::string_view text) {
    if (is_one_of(type, {"address_in", "address_out"})) {
        reading.address = sockaddr_in_text(text);
        return true;
    }
    if (!is_one_of(type, {"path", "path2", "name", "name2", "bytes_in", "bytes_out"})) {
        return false;
    }
    reading.event.arguments[index] = argument_number("address", text).value_or(0);
    auto quoted = quoted_string(text);
    if (!quoted) {
        return true;
    }
    if (quoted->is_cut && !type.starts_with("bytes")) {
        problems_->add_doubt("a name that strace has cut", reading.place);
    }
    if (type == "path") {
        reading.path = std::move(quoted->bytes);
    } else if (type == "path2") {
        reading.path2 = std::move(quoted->bytes);
    } else if (type == "name") {
        reading.name = std::move(quoted->bytes);
    } else if (type == "name2") {
        reading.name2 = std::move(quoted->bytes);
    } else if (!quoted->is_cut) {
        reading.payload = std::move(quoted->bytes);
    }
    return true;
}

bool StraceCalls::read_range_argument(Reading& reading,
                                      std::size_t index,
                                      std::string_view type,
                                      std::string_view text) {
    SyscallEvent& event = reading.event;
    if (type.starts_with("iovec")) {
        read_vector(reading, text);
        return true;
    }
    if (type.starts_with("message_in") || type.starts_with("message_out")) {
        read_message(reading, text);
        return true;
    }
    if (is_one_of(type, {"offset_pointer", "offset_pointer2"})) {
        if (const auto at = pointed_number(text)) {
            const bool first = type == "offset_pointer";
            (first ? event.file_offset : event.file_offset2) = static_cast<std::int64_t>(*at);
            event.present |= first
                                 ? SyscallEvent::kHasFileOffset | SyscallEvent::kHasOffsetCertain
                                 : SyscallEvent::kHasFileOffset2 | SyscallEvent::kHasOffset2Certain;
        }
        return true;
    }
    if (!is_one_of(type, {"size", "length", "offset", "offset_low"})) {
        return false;
    }
    const auto number = argument_number("long", text);
    event.arguments[index] = number.value_or(0);
    if (!number) {
        problems_->add_doubt("an argument in words that have no number here: 0 stands for it",
                             reading.place);
    } else if (type == "size" || type == "length") {
        event.requested = *number;
        event.present |= SyscallEvent::kHasRequested;
    } else if (static_cast<std::int64_t>(*number) >= 0) {  // preadv2's -1: the position
        event.file_offset = static_cast<std::int64_t>(*number);
        event.present |= SyscallEvent::kHasFileOffset | SyscallEvent::kHasOffsetCertain;
    }
    return true;
}

void StraceCalls::read_vector(Reading& reading, std::string_view text) {
    std::uint64_t bytes = 0;
    std::string payload;
    bool is_whole = true;
    for (const std::string_view element : elements_of(text)) {
        const auto length = argument_number("size", member_of(element, "iov_len"));
        if (!length) {
            return;  // cut by strace, or a pointer
        }
        bytes += *length;
        const auto part = quoted_string(member_of(element, "iov_base"));
        is_whole = is_whole && part && !part->is_cut && part->bytes.size() <= *length;
        payload += is_whole ? part->bytes : "";
    }
    reading.event.requested = bytes;
    reading.event.present |= SyscallEvent::kHasRequested;
    if (is_whole && bytes > 0) {
        reading.payload = std::move(payload);
    }
}

void StraceCalls::read_message(Reading& reading, std::string_view text) {
    if (const std::string_view address = member_of(text, "msg_name"); !address.empty()) {
        reading.address = sockaddr_in_text(address);
    }
    if (const std::string_view vector = member_of(text, "msg_iov"); !vector.empty()) {
        read_vector(reading, vector);
    }
}

}  // namespace dyetrace::importer
