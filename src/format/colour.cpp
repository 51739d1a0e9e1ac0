#include "format/colour.h"

#include <array>
#include <cstddef>

#include "base/log.h"

namespace dyetrace::format {

bool wants_colour(ColourMode mode, int file_descriptor) {
    if (mode != ColourMode::kAuto) {
        return mode == ColourMode::kAlways;
    }
    return base::wants_color(file_descriptor);
}

std::string_view sequence_of(Colour colour) {
    constexpr std::array<std::string_view, 9> kSequences{"\x1b[0m",
                                                         "\x1b[1m",
                                                         "\x1b[2m",
                                                         "\x1b[31m",
                                                         "\x1b[32m",
                                                         "\x1b[33m",
                                                         "\x1b[34m",
                                                         "\x1b[35m",
                                                         "\x1b[36m"};
    return kSequences[static_cast<std::size_t>(colour)];
}

}  // namespace dyetrace::format
