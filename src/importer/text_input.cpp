#include "importer/text_input.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/file.h"

namespace dyetrace::importer {
namespace {

constexpr std::size_t kPieceBytes = 256u << 10;

}  // namespace

Result<TextInput> TextInput::open(const std::string& path) {
    TextInput input;
    if (path == "-") {
        input.name_ = "standard input";
        input.file_ = base::Fd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
        if (!input.file_.valid()) {
            return Error::from_errno(errno, "cannot read standard input");
        }
        return input;
    }
    input.name_ = path;
    TRY(input.file_, base::open_file(path, O_RDONLY));
    struct stat status {};
    if (::fstat(input.file_.get(), &status) == 0 && S_ISDIR(status.st_mode)) {
        return Error(ErrorCode::kInvalidArgument,
                     fmt::format("'{}' is a folder; a log is a file", path));
    }
    return input;
}

TextInput TextInput::of_text(std::string text) {
    TextInput input;
    input.name_ = "text";
    input.bytes_read_ = text.size();
    input.buffer_ = std::move(text);
    input.ended_ = true;
    return input;
}

Result<bool> TextInput::read_more() {
    if (ended_) {
        return false;
    }
    buffer_.erase(0, at_);
    at_ = 0;
    const std::size_t before = buffer_.size();
    buffer_.resize(before + kPieceBytes);
    const Result<std::size_t> got =
        base::read_up_to(file_, std::as_writable_bytes(std::span(buffer_).subspan(before)));
    buffer_.resize(before + (got.ok() ? got.value() : 0));
    if (!got.ok()) {
        return Error(got.error()).with_context(fmt::format("reading {}", name_));
    }
    bytes_read_ += got.value();
    ended_ = got.value() < kPieceBytes;
    return got.value() > 0;
}

Result<std::optional<Line>> TextInput::next_line() {
    std::size_t searched = 0;
    for (;;) {
        const std::string_view text = rest();
        const std::size_t end = text.find('\n', searched);
        if (end != std::string_view::npos && end <= kLineBytesMax) {
            consume(end + 1);
            return std::optional(Line{text.substr(0, end), ++line_, false, true});
        }
        if (text.size() > kLineBytesMax) {
            break;
        }
        searched = text.size();
        TRY(const bool more, read_more());
        if (more) {
            continue;
        }
        if (rest().empty()) {
            return std::optional<Line>();
        }
        const std::string_view last = rest();
        consume(last.size());
        return std::optional(Line{last, ++line_, false, false});
    }
    const std::string head(rest().substr(0, 256));
    TRY(skip_to_line_break());
    // Whoever gets it wants to say what it is, no more.
    buffer_.insert(at_, head);
    const std::string_view kept = rest().substr(0, head.size());
    consume(head.size());
    return std::optional(Line{kept, ++line_, true, true});
}

Result<void> TextInput::skip_to_line_break() {
    for (;;) {
        const std::size_t end = rest().find('\n');
        if (end != std::string_view::npos) {
            consume(end + 1);
            return {};
        }
        consume(rest().size());
        TRY(const bool more, read_more());
        if (!more) {
            return {};
        }
    }
}

}  // namespace dyetrace::importer
