#include "importer/json_objects.h"

namespace dyetrace::importer {
namespace {

constexpr std::string_view kNoObject = "no JSON object";
constexpr std::string_view kNotClosed = "a JSON object that is not closed";
constexpr std::string_view kTooLong = "longer than 2 MiB";

bool is_between(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == ',' || c == '[' || c == ']';
}

}  // namespace

Result<std::optional<JsonText>> JsonObjects::next() {
    for (bool ended = false;;) {
        if (const auto found = scan(ended)) {
            return std::optional(*found);
        }
        if (ended) {
            return std::optional<JsonText>();
        }
        TRY(const bool more, input_->read_more());
        ended = !more;
    }
}

std::optional<JsonText> JsonObjects::scan(bool ended) {
    for (;;) {
        if (depth_ == 0) {
            if (const auto found = scan_between()) {
                return found;
            }
            if (depth_ == 0) {  // all of it, and no object
                return ended && in_text_ ? std::optional(finish(at_, kNoObject)) : std::nullopt;
            }
        }
        if (const auto found = scan_object(ended)) {
            return found;
        }
        if (!ended || depth_ == 0) {
            return std::nullopt;
        }
        return finish(at_, kNotClosed);
    }
}

// What is neither an object nor what stands between objects is told once for its line.
std::optional<JsonText> JsonObjects::scan_between() {
    const std::string_view text = input_->rest();
    for (; at_ < text.size(); ++at_) {
        const char c = text[at_];
        if (c == '\n' || c == '{') {
            if (in_text_) {
                return finish(at_, kNoObject);  // the character is looked at again
            }
            if (c == '{') {
                input_->consume(at_);
                at_ = 1;
                depth_ = 1;
                begin_line_ = line_;
                return std::nullopt;
            }
            ++line_;
        } else if (!is_between(c) && !in_text_ &&
                   !(line_ == 1 && (c & 0x80) != 0)) {  // a byte order mark
            in_text_ = true;
            begin_line_ = line_;
        }
        if (at_ >= kLineBytesMax) {  // nothing of it is needed
            input_->consume(at_);
            at_ = 0;
            return scan_between();
        }
    }
    return std::nullopt;
}

std::optional<JsonText> JsonObjects::scan_object(bool ended) {
    const std::string_view text = input_->rest();
    for (; at_ < text.size(); ++at_) {
        const char c = text[at_];
        if (c == '\n') {
            if (at_ + 1 == text.size() && !ended) {
                return std::nullopt;  // what follows decides
            }
            const bool begins_another = at_ + 1 < text.size() && text[at_ + 1] == '{';
            if (layout_ == Layout::kLines || begins_another) {
                return finish(at_, too_long_ ? kTooLong : kNotClosed);
            }
            ++line_;
        } else if (in_string_) {
            if (escaped_) {
                escaped_ = false;
            } else if (c == '\\') {
                escaped_ = true;
            } else if (c == '"') {
                in_string_ = false;
            }
        } else if (c == '"') {
            in_string_ = true;
        } else if (c == '{') {
            ++depth_;
        } else if (c == '}' && --depth_ == 0) {
            if (layout_ == Layout::kUnknown) {
                layout_ = line_ == begin_line_ ? Layout::kLines : Layout::kSpread;
            }
            return finish(at_ + 1, too_long_ ? kTooLong : std::string_view());
        }
        if (at_ > kLineBytesMax) {
            too_long_ = true;
            input_->consume(at_);
            at_ = 0;
            return scan_object(ended);
        }
    }
    return std::nullopt;
}

JsonText JsonObjects::finish(std::size_t bytes, std::string_view damage) {
    const JsonText found{
        damage.empty() ? input_->rest().substr(0, bytes) : std::string_view(), damage, begin_line_};
    input_->consume(bytes);
    at_ = 0;
    depth_ = 0;
    in_text_ = in_string_ = escaped_ = too_long_ = false;
    return found;
}

}  // namespace dyetrace::importer
