// The objects of a log in JSON, one after another, however they are laid out: one on a line, an array of them on one line or on many.
//
//   [{"type":8, …},{"type":9, …}]          {"type":8, …}⏎{"type":9, …}⏎          both: two objects
//
// An object that is not closed costs itself: the next line that begins with { is another one; where objects have had a line each, so is any
// line. What is between objects and is no JSON costs nothing else.
//
// Limits: an object has at most kLineBytesMax bytes; a longer one is skipped. Nesting is not looked at here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "importer/text_input.h"

namespace dyetrace::importer {

struct JsonText {
    std::string_view text;         // the object; empty if it is none. Valid until the next call
    std::string_view damage = {};  // why it is none
    std::uint64_t line = 0;        // on which it begins
};

class JsonObjects {
  public:
    explicit JsonObjects(TextInput& input) : input_(&input) {}

    // Nothing: the end.
    Result<std::optional<JsonText>> next();

  private:
    enum class Layout : std::uint8_t { kUnknown, kLines, kSpread };

    std::optional<JsonText> scan(bool ended);
    std::optional<JsonText> scan_between();
    std::optional<JsonText> scan_object(bool ended);
    JsonText finish(std::size_t bytes, std::string_view damage);

    TextInput* input_;
    Layout layout_ = Layout::kUnknown;
    std::size_t at_ = 0;  // in what the input holds: scanned up to here
    std::uint64_t line_ = 1;
    std::uint64_t begin_line_ = 1;
    std::uint32_t depth_ = 0;
    bool in_text_ = false, in_string_ = false, escaped_ = false, too_long_ = false;
};

}  // namespace dyetrace::importer
