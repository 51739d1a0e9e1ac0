#include "format/colour.h"

#include <unistd.h>

#include <array>
#include <cstdlib>

namespace dyetrace::format {

bool wants_colour(ColourMode mode, int file_descriptor) {
    if (mode != ColourMode::kAuto) {
        return mode == ColourMode::kAlways;
    }
    const char* no_color = std::getenv("NO_COLOR");
    const char* term = std::getenv("TERM");
    const bool asked_not_to = no_color != nullptr && *no_color != '\0';
    const bool dumb = term == nullptr || std::string_view(term) == "dumb";
    return !asked_not_to && !dumb && isatty(file_descriptor) == 1;
}

std::string_view sequence_of(Colour colour) {
    constexpr std::array<std::string_view, 9> kSequences{
        "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[35m", "\x1b[36m"};
    return kSequences[static_cast<std::size_t>(colour)];
}

}  // namespace dyetrace::format
