// -e read=, -e write=: what a call moved, in hexadecimal after its line, as strace dumps it.
//
//   write(4, "abc", 3)                      = 3
//    | 00000  61 62 63                                          abc              |
#include <fmt/format.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstring>

#include "format/argument.h"
#include "format/bytes.h"
#include "schema/shared/preview.h"

namespace dyetrace::format {
namespace {

constexpr std::size_t kRowBytes = 16;
constexpr std::size_t kMessageBytes = 56;  // struct user_msghdr, before its vector

void append_row(std::string& out, std::size_t at, std::string_view bytes) {
    print(out, "\n | {:05x}  ", at);
    for (std::size_t i = 0; i < kRowBytes; ++i) {
        if (i < bytes.size()) {
            print(out, "{:02x} ", static_cast<unsigned char>(bytes[i]));
        } else {
            out.append("   ");
        }
        out.append(i % 8 == 7 ? " " : "");
    }
    for (std::size_t i = 0; i < kRowBytes; ++i) {
        const char c = i < bytes.size() ? bytes[i] : ' ';
        out.push_back(c >= ' ' && c < '\x7f' ? c : '.');
    }
    out.append(" |");
}

// `whole` bytes of which these are the first.
void append_rows(std::string& out, std::string_view bytes, std::size_t whole) {
    for (std::size_t at = 0; at < bytes.size(); at += kRowBytes) {
        append_row(out, at, bytes.substr(at, kRowBytes));
    }
    if (bytes.size() < whole) {
        print(out, "\n | only the first {} of {} bytes were captured |", bytes.size(), whole);
    }
}

void append_parts(std::string& out,
                  std::string_view vectors,
                  const VectorBytes& data,
                  std::uint64_t moved) {
    for (std::size_t i = 0; (i + 1) * sizeof(iovec) <= vectors.size(); ++i) {
        const auto vector = *read_at<iovec>(vectors, i * sizeof(iovec));
        const std::size_t held = std::min<std::uint64_t>(vector.iov_len, moved);
        if (held == 0) {
            break;
        }
        moved -= held;
        print(out, "\n * {} bytes in buffer {}", held, i);
        append_rows(out, data.of(i).substr(0, held), held);
    }
}

}  // namespace

//  = 2 buffers in vector 0
void CallText::append_message_dumps(std::string& out, std::size_t index) const {
    for (std::size_t i = 0; i < moved(); ++i) {
        const std::size_t tag = index | (i + 1) << PREVIEW_MESSAGE_SHIFT;
        const auto message = attached(schema::Attachment::kStructure, tag);
        const auto length =
            attached(schema::Attachment::kStructure, tag | PREVIEW_AFTER | PREVIEW_CONTROL);
        const auto bytes = length ? read_at<std::uint32_t>(*length) : std::nullopt;
        if (!message || message->size() < kMessageBytes || !bytes) {
            return;
        }
        const std::string_view vectors = message->substr(kMessageBytes);
        print(out, "\n = {} buffers in vector {}", vectors.size() / sizeof(iovec), i);
        append_parts(out,
                     vectors,
                     VectorBytes(attached(schema::Attachment::kPreview, tag).value_or("")),
                     *bytes);
    }
}

// Appends the bytes that a call moved; when a write failed, those that it was given.
void CallText::append_dump(std::string& out) const {
    if (!has(schema::SyscallEvent::kHasResult) || (failed() && !schema::gives_bytes(info_))) {
        return;
    }
    const auto structure = [&](std::size_t index) {
        return attached(schema::Attachment::kStructure, index).value_or("");
    };
    for (std::size_t i = 0; i < info_.argument_count; ++i) {
        const std::string_view type = type_of(i);
        const std::size_t tag = type == "message_out" ? i | PREVIEW_AFTER : i;
        const auto data = attached(schema::Attachment::kPreview, tag).value_or("");
        const bool is_cut =
            type == "iovec_in" && structure(i).size() < value(i + 1) * sizeof(iovec);
        if (failed() && (data.empty() || is_cut)) {
            continue;  // what it was given is no memory
        }
        if (type == "bytes_in" || type == "bytes_out") {
            const std::size_t whole = failed() ? value(i + 1) : moved();
            append_rows(out, data.substr(0, whole), whole);
        } else if (type == "iovec_in" || type == "iovec_out") {
            append_parts(out, structure(i), VectorBytes(data), failed() ? ~0ull : moved());
        } else if (type == "message_in" || type == "message_out") {
            const std::string_view message = structure(tag);
            append_parts(out,
                         message.substr(std::min(message.size(), kMessageBytes)),
                         VectorBytes(data),
                         failed() ? ~0ull : moved());
        } else if (type == "messages_in" || type == "messages_out") {
            append_message_dumps(out, i);
        }
    }
}

}  // namespace dyetrace::format
