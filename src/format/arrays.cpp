// Arrays of structures that calls are given by address: what a directory has, sets of signals with their size, several messages.
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "format/argument.h"
#include "format/bytes.h"
#include "format/quote.h"
#include "schema/shared/preview.h"

namespace dyetrace::format {

using schema::Attachment;

namespace {

// struct linux_dirent has its type in its last byte, struct linux_dirent64 after the length.
constexpr std::size_t kLengthAt = 16, kNameAt = 18, kName64At = 19;

std::string_view text_at(std::string_view bytes, std::size_t at) {
    const std::string_view rest = bytes.substr(std::min(at, bytes.size()));
    return rest.substr(0, rest.find('\0'));
}

// The first of them; empty where they end, or are damaged.
std::string_view first_entry(std::string_view bytes) {
    const auto length = read_at<std::uint16_t>(bytes, kLengthAt);
    return length && *length > kName64At && *length <= bytes.size() ? bytes.substr(0, *length)
                                                                    : std::string_view{};
}

std::size_t count_entries(std::string_view bytes) {
    std::size_t count = 0;
    for (; !first_entry(bytes).empty(); ++count) {
        bytes.remove_prefix(first_entry(bytes).size());
    }
    return count;
}

void append_entry(std::string& out, std::string_view entry, bool has_64, const Limits& limits) {
    print(out,
          "{{d_ino={}, d_off={}, d_reclen={}",
          *read_at<std::uint64_t>(entry),
          *read_at<std::uint64_t>(entry, 8),
          entry.size());
    const auto byte = static_cast<unsigned char>(has_64 ? entry[kNameAt] : entry.back());
    const std::string type = constant_text("entry_type", byte, limits.constants);
    const std::string_view name = text_at(entry, has_64 ? kName64At : kNameAt);
    if (has_64) {
        print(out, ", d_type={}", type);
    }
    out.append(", d_name=");
    append_quoted(out, name, name.size(), false, limits.quotes);
    if (!has_64) {
        print(out, ", d_type={}", type);
    }
    out.push_back('}');
}

}  // namespace

// The number of entries, or with -v each of them.
bool CallText::print_entries(std::string& out, std::size_t index) const {
    auto bytes = attached(Attachment::kStructure, index);
    if (!bytes || failed()) {
        return false;
    }
    const bool has_all = bytes->size() >= moved();
    if (!detail_.whole) {
        append_address(out, index);
        if (has_all) {
            print(out, " /* {} entries */", count_entries(*bytes));
        }
        return true;
    }
    out.push_back('[');
    std::size_t shown = 0;
    for (auto entry = first_entry(*bytes); !entry.empty(); entry = first_entry(*bytes), ++shown) {
        out.append(shown > 0 ? ", " : "");
        append_entry(out, entry, info_.name == "getdents64", limits_);
        bytes->remove_prefix(entry.size());
    }
    end_array(out, shown > 0, !has_all);
    return true;
}

// {sigmask=[CHLD], sigsetsize=8}
bool CallText::print_mask(std::string& out, std::size_t index) const {
    const auto pair = attached(Attachment::kStructure, index);
    if (!pair || pair->size() < 16) {
        return false;
    }
    const auto address = *read_at<std::uint64_t>(*pair), size = *read_at<std::uint64_t>(*pair, 8);
    const auto mask = attached(Attachment::kStructure, index | PREVIEW_CONTROL);
    out.append("{sigmask=");
    if (size != kSignalSetBytes || !mask || !append_signal_set(out, *mask)) {
        out.append(pointer_text(address));
    }
    print(out, ", sigsetsize={}}}", size);
    return true;
}

// [{msg_hdr={…}, msg_len=5}, …]: as many as were captured.
bool CallText::print_messages(std::string& out, std::size_t index) const {
    const bool inward = info_.arguments[index].type == "messages_in";
    if (!detail_.verbose || (!inward && failed())) {
        return false;
    }
    const std::size_t begin = out.size(),
                      count = inward ? value(index + 1) : std::min(value(index + 1), moved());
    std::size_t shown = 0;
    out.push_back('[');
    for (; shown < std::min(count, limits_.items_max); ++shown) {
        const std::size_t tag = index | (shown + 1) << PREVIEW_MESSAGE_SHIFT;
        const auto message = attached(Attachment::kStructure, tag);
        if (!message) {
            break;
        }
        const auto length = attached(Attachment::kStructure, tag | PREVIEW_AFTER | PREVIEW_CONTROL);
        const auto bytes = length ? read_at<std::uint32_t>(*length) : std::nullopt;
        out.append(shown > 0 ? ", {msg_hdr=" : "{msg_hdr=");
        append_msghdr(
            out,
            {.bytes = *message,
             .name = attached(Attachment::kStructure, tag | PREVIEW_AFTER).value_or(""),
             .data = VectorBytes(attached(Attachment::kPreview, tag).value_or("")),
             .control = attached(Attachment::kStructure, tag | PREVIEW_CONTROL).value_or(""),
             .moved = inward ? kMovesAll : bytes.value_or(0),
             .name_room = std::nullopt},
            limits_);
        out.append(bytes ? fmt::format(", msg_len={}}}", *bytes) : "}");
    }
    end_array(out, shown > 0, shown < count);
    if (shown == 0 && count > 0) {
        out.resize(begin);
    }
    return shown > 0 || count == 0;
}

}  // namespace dyetrace::format
