// A log as bytes that come in pieces: a file or standard input, of any size, never whole in memory.
//
//   TRY(TextInput input, TextInput::open("web1.log"));
//   while (true) {
//       TRY(const std::optional<Line> line, input.next_line());     nothing: the end
//
// Limits: a line has at most kLineBytesMax bytes; of a longer one the beginning is given, `is_cut`, and the rest skipped. Memory: twice that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "base/result.h"

namespace dyetrace::importer {

// A call of strace with -s 100000, or an event of CaT with the text of 256 KiB, escaped, fits.
inline constexpr std::size_t kLineBytesMax = 2u << 20;

struct Line {
    std::string_view text;  // without its line break; valid until the next call
    std::uint64_t number = 0;
    bool is_cut = false;
    bool is_whole = true;  // false: the log ends without a line break
};

class TextInput {
  public:
    // "-" is standard input.
    static Result<TextInput> open(const std::string& path);
    // Reads a string, for tests.
    static TextInput of_text(std::string text);

    const std::string& name() const { return name_; }

    // What has been read and not consumed.
    std::string_view rest() const { return std::string_view(buffer_).substr(at_); }
    // Reads more after it. False: the end; rest() stays as it is.
    Result<bool> read_more();
    void consume(std::size_t bytes) { at_ += bytes; }

    Result<std::optional<Line>> next_line();

    std::uint64_t bytes_read() const { return bytes_read_; }

  private:
    Result<void> skip_to_line_break();

    std::string name_;
    base::Fd file_;  // of standard input: a copy
    std::string buffer_;
    std::size_t at_ = 0;
    std::uint64_t line_ = 0;
    std::uint64_t bytes_read_ = 0;
    bool ended_ = false;
};

}  // namespace dyetrace::importer
