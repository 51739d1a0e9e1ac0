#include "probes/tracepoint_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <utility>

#include "base/harmless.h"

namespace dyetrace::probes {
namespace {

// The kernel puts a pointer of its own there before a program runs.
constexpr std::uint32_t kHiddenBytes = 8;
// What programs get of a system call: 8 bytes of the record's head, the number, 6 arguments.
constexpr std::uint32_t kSyscallRecordBytes = 64;
constexpr std::string_view kSyscalls = "syscalls";
constexpr std::string_view kDataLoc = "__data_loc ";
constexpr std::string_view kRelativeDataLoc = "__rel_data_loc ";

struct FormatField {
    std::string type;  // "__data_loc char[]", "char", "const char *"
    std::string name;
    bool is_array = false;  // "char name[16]"
    std::uint32_t offset = 0, size = 0;
    bool is_signed = false;
};

std::string_view without_blanks(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(kBlanks);
    return begin == text.npos ? "" : text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

bool is_of_a_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// What stands before the first `end` of the text, which becomes what is after it.
std::string_view take_until(std::string_view& text, char end) {
    const std::string_view part = text.substr(0, text.find(end));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    return part;
}

template <class Number>
bool parse_whole(std::string_view text, Number& number) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && rest == end;
}

// " offset:16" with the key "offset:" is 16.
template <class Number>
bool parse_keyed(std::string_view text, std::string_view key, Number& number) {
    text = without_blanks(text);
    return text.starts_with(key) && parse_whole(text.substr(key.size()), number);
}

// "const char * filename", "char comm[16]", "__u8 addr[sizeof(struct sockaddr_in6)]", "__data_loc char[] name"
bool parse_field_declaration(std::string_view text, FormatField& field) {
    text = without_blanks(text);
    field.is_array = text.ends_with(']');
    const std::string_view head =
        field.is_array ? without_blanks(text.substr(0, text.find('['))) : text;
    std::size_t begin = head.size();
    while (begin > 0 && is_of_a_name(head[begin - 1])) {
        --begin;
    }
    field.name = head.substr(begin);
    field.type = without_blanks(head.substr(0, begin));
    return !field.type.empty() && !field.name.empty() &&
           (field.name[0] < '0' || field.name[0] > '9') &&
           std::none_of(field.type.begin(), field.type.end(), [](char c) {
               return static_cast<unsigned char>(c) < ' ' || static_cast<unsigned char>(c) > '~';
           });
}

// The line after "field:".
std::optional<FormatField> parse_field(std::string_view line) {
    FormatField field;
    unsigned sign = 0;
    const bool is_good = parse_field_declaration(take_until(line, ';'), field) &&
                         parse_keyed(take_until(line, ';'), "offset:", field.offset) &&
                         parse_keyed(take_until(line, ';'), "size:", field.size) &&
                         parse_keyed(take_until(line, ';'), "signed:", sign);
    field.is_signed = sign != 0;
    return is_good ? std::optional(std::move(field)) : std::nullopt;
}

bool is_number_size(std::uint32_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

// An argument of a system call stands in 8 bytes; a narrow one is what the lowest of them say, and the kernel calls none signed.
void narrow_syscall_argument(FormatField& field) {
    struct Narrow {
        std::string_view type;
        std::uint32_t bytes;
        bool is_signed;
    };
    static constexpr Narrow kNarrow[] = {{"int", 4, true},
                                         {"const int", 4, true},
                                         {"pid_t", 4, true},
                                         {"clockid_t", 4, true},
                                         {"const clockid_t", 4, true},
                                         {"key_t", 4, true},
                                         {"key_serial_t", 4, true},
                                         {"mqd_t", 4, true},
                                         {"timer_t", 4, true},
                                         {"rwf_t", 4, true},
                                         {"__s32", 4, true},
                                         {"unsigned int", 4, false},
                                         {"unsigned", 4, false},
                                         {"u32", 4, false},
                                         {"__u32", 4, false},
                                         {"uid_t", 4, false},
                                         {"gid_t", 4, false},
                                         {"qid_t", 4, false},
                                         {"umode_t", 2, false},
                                         {"long", 8, true},
                                         {"off_t", 8, true},
                                         {"loff_t", 8, true},
                                         {"ssize_t", 8, true}};
    const auto* known = std::find_if(std::begin(kNarrow), std::end(kNarrow), [&](auto& each) {
        return each.type == field.type;
    });
    if (field.size == 8 && known != std::end(kNarrow)) {
        field.size = known->bytes;
        field.is_signed = known->is_signed;
    }
}

// Why a field cannot be read; empty: it can.
std::string reason_to_leave_out(const FormatField& field, bool is_syscall) {
    if (field.offset < kHiddenBytes) {
        return "the kernel keeps the first 8 bytes of a record from programs";
    }
    if (std::uint64_t{field.offset} + field.size > kRecordBytesMax) {
        return "it ends after the first 8,192 bytes of the record";
    }
    const std::string_view type = field.type;
    const bool has_place = type.starts_with(kDataLoc) || type.starts_with(kRelativeDataLoc);
    if (is_syscall && (has_place || field.offset + field.size > kSyscallRecordBytes)) {
        return "programs are given a system call's number and arguments only";
    }
    if (type.starts_with(kRelativeDataLoc)) {
        return "its place counts from itself";
    }
    if (has_place) {
        return type.substr(kDataLoc.size()) == "char[]" && field.size == 4
                   ? ""
                   : fmt::format("it is an array: {}", type.substr(kDataLoc.size()));
    }
    if (field.is_array) {
        return type == "char" && field.size > 0 ? "" : fmt::format("it is an array of {}", type);
    }
    const bool is_structure = type.starts_with("struct ") || type.starts_with("union ");
    if ((is_structure && type.find('*') == type.npos) || !is_number_size(field.size)) {
        return fmt::format("it is no number but {} bytes of {}", field.size, type);
    }
    return "";
}

ProbeValue value_of_field(const FormatField& field, bool is_syscall) {
    ProbeValue value;
    value.start = ValueStart::kContext;
    value.number = field.offset;
    value.bytes = field.size;
    value.type = field.type;
    const bool is_address = field.type.find('*') != field.type.npos && field.size == 8;
    value.is_signed = field.is_signed && !is_address;
    if (field.type.starts_with(kDataLoc)) {
        value.form = ValueForm::kDataLocation;
        value.type = field.type.substr(kDataLoc.size());
        value.is_signed = false;
    } else if (field.is_array) {
        value.form = ValueForm::kTextArray;
        value.type = fmt::format("{}[{}]", field.type, field.size);
        value.is_signed = false;
    } else if (is_address &&
               (field.type == "const char *" || (field.type == "char *" && !is_syscall))) {
        value.form = ValueForm::kText;
        value.is_in_user_memory = is_syscall;
    }
    return value;
}

void add_field(Tracepoint& tracepoint, FormatField field) {
    const bool is_syscall = tracepoint.category == kSyscalls;
    if (is_syscall) {
        narrow_syscall_argument(field);
    }
    std::string reason = reason_to_leave_out(field, is_syscall);
    if (reason.empty()) {
        ProbeValue value = value_of_field(field, is_syscall);
        tracepoint.fields.values.push_back({std::move(field.name), std::move(value)});
    } else {
        tracepoint.fields.left_out.push_back({std::move(field.name), std::move(reason)});
    }
}

Error bad_line(std::size_t number, std::string_view line) {
    constexpr std::size_t kShownBytes = 80;
    return Error(ErrorCode::kCorrupt,
                 fmt::format("line {} of a tracepoint's format is not understood: '{}'",
                             number,
                             base::make_harmless(line.substr(0, kShownBytes))));
}

}  // namespace

Result<Tracepoint> parse_tracepoint_format(std::string_view category, std::string_view text) {
    constexpr std::string_view kName = "name: ", kId = "ID: ", kField = "field:";
    Tracepoint tracepoint;
    tracepoint.category = category;
    bool has_id = false;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view whole = take_until(text, '\n');
        const std::string_view line = without_blanks(whole);
        if (line.starts_with("print fmt:")) {
            break;
        }
        if (line.empty() || line == "format:") {
            continue;
        }
        if (line.starts_with(kName)) {
            tracepoint.name = line.substr(kName.size());
        } else if (!has_id && line.starts_with(kId) &&
                   parse_whole(line.substr(kId.size()), tracepoint.id)) {
            has_id = true;
        } else if (auto field = line.starts_with(kField) ? parse_field(line.substr(kField.size()))
                                                         : std::nullopt) {
            add_field(tracepoint, std::move(*field));
        } else {
            return bad_line(number, whole);
        }
    }
    if (!has_id || tracepoint.name.empty()) {
        return Error(ErrorCode::kCorrupt, "a tracepoint's format has no name or no ID");
    }
    return tracepoint;
}

}  // namespace dyetrace::probes
