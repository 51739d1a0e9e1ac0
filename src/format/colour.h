// Colour on a terminal, and nothing anywhere else.
#pragma once

#include <string>
#include <string_view>

namespace dyetrace::format {

enum class Colour : unsigned char {
    kPlain,
    kBold,
    kDim,
    kRed,
    kGreen,
    kYellow,
    kBlue,
    kMagenta,
    kCyan
};

// `auto` is colour when the file is a terminal, NO_COLOR is unset or empty and TERM is not "dumb".
enum class ColourMode : unsigned char { kAuto, kAlways, kNever };

bool wants_colour(ColourMode mode, int file_descriptor);

// The sequence that begins it; kPlain ends all.
std::string_view sequence_of(Colour colour);

// Paints what is appended to a string while it lives.
class Painted {
  public:
    Painted(std::string& out, bool on, Colour colour)
        : out_(out), on_(on && colour != Colour::kPlain) {
        if (on_) {
            out_.append(sequence_of(colour));
        }
    }
    ~Painted() {
        if (on_) {
            out_.append(sequence_of(Colour::kPlain));
        }
    }
    Painted(const Painted&) = delete;
    Painted& operator=(const Painted&) = delete;

  private:
    std::string& out_;
    bool on_;
};

}  // namespace dyetrace::format
