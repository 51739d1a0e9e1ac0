#include "format/constant.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>

#include "format/structure.h"
#include "schema/flags.h"

namespace dyetrace::format {
namespace {

std::string number_text(const schema::FlagSet& set, std::uint64_t value) {
    const std::uint64_t number = value & set.width_mask;
    switch (set.rest) {
        case schema::FlagRest::kOctal:
            return octal_text(number);
        case schema::FlagRest::kDecimal:
            return fmt::format("{}", static_cast<std::int32_t>(number));
        case schema::FlagRest::kHex:
            break;
    }
    return hex(number);
}

// Where mmap and memfd_create have the size of large pages.
constexpr unsigned kPageSizeShift = 26;
constexpr std::uint64_t kPageSizes = std::uint64_t{0x3f} << kPageSizeShift;

bool is_number(std::string_view text) {
    return text.find_first_not_of("-0123456789abcdefx") == std::string_view::npos;
}

}  // namespace

std::string octal_text(std::uint64_t value) {
    return value < 8 ? fmt::format("00{:o}", value) : fmt::format("0{:o}", value);
}

std::string constant_text(const std::string& number, std::string_view names, Constants constants) {
    switch (constants) {
        case Constants::kNumbers:
            return number;
        case Constants::kBoth:
            return is_number(names) ? number : fmt::format("{} /* {} */", number, names);
        case Constants::kNames:
            break;
    }
    return std::string(names);
}

std::string constant_text(std::string_view type, std::uint64_t value, Constants constants) {
    const schema::FlagSet* set = schema::find_flag_set(type);
    std::string names = schema::flags_text(type, value);
    if (set == nullptr) {
        return names;
    }
    const std::string number = number_text(*set, value);
    const bool is_unknown =
        is_number(names) && !set->unknown.empty() && names != "0" && number != "0";
    if (is_unknown && constants != Constants::kNumbers) {
        return fmt::format("{} /* {} */", number, set->unknown);
    }
    return constant_text(number, names, constants);
}

std::string mode_text(std::uint32_t mode, Constants constants) {
    std::string text = schema::flags_text("mode", mode & ~07000u);
    const std::size_t at = text.rfind('|') == std::string::npos ? 0 : text.rfind('|') + 1;
    const std::string_view bits[] = {(mode & S_ISUID) != 0 ? "S_ISUID|" : "",
                                     (mode & S_ISGID) != 0 ? "S_ISGID|" : "",
                                     (mode & S_ISVTX) != 0 ? "S_ISVTX|" : ""};
    text.insert(at, fmt::format("{}{}{}", bits[0], bits[1], bits[2]));
    if (text.find('|') == std::string::npos || at == 0) {
        return octal_text(mode);  // without a type it is a number
    }
    return constant_text(octal_text(mode), text, constants);
}

std::string map_flags_text(std::uint64_t value, Constants constants) {
    constexpr std::uint64_t kType = 0xf;
    static constexpr std::string_view kTypes[] = {
        "MAP_FILE", "MAP_SHARED", "MAP_PRIVATE", "MAP_SHARED_VALIDATE"};
    const std::uint64_t type = value & kType, rest = value & ~(kType | kPageSizes);
    std::string text = type < std::size(kTypes) ? std::string(kTypes[type])
                       : type == 8              ? "MAP_DROPPABLE"
                                                : fmt::format("{:#x} /* MAP_??? */", type);
    if (rest != 0) {  // after MAP_SHARED|
        text.append(schema::flags_text("mmap_flags", rest | 1).substr(10));
    }
    if ((value & kPageSizes) != 0) {
        text.append(fmt::format("|{}<<MAP_HUGE_SHIFT", (value & kPageSizes) >> kPageSizeShift));
    }
    return constant_text(hex(value), text, constants);
}

std::string memfd_flags_text(std::uint64_t value, Constants constants) {
    const std::uint64_t flags = value & 0xffffffff & ~kPageSizes, size = value & kPageSizes;
    if (size == 0) {
        return constant_text("memfd_flags", flags, constants);
    }
    const std::string names =
        flags != 0 ? constant_text("memfd_flags", flags, Constants::kNames) + "|" : "";
    return constant_text(hex(flags | size),
                         fmt::format("{}{}<<MFD_HUGE_SHIFT", names, size >> kPageSizeShift),
                         constants);
}

std::string io_priority_text(std::uint32_t value) {
    constexpr int kClassShift = 13;
    return fmt::format("IOPRIO_PRIO_VALUE({}, {})",
                       constant_text("ioprio_class", value >> kClassShift, Constants::kNames),
                       value & ((1u << kClassShift) - 1));
}

std::string socket_option_text(std::uint64_t level, std::uint64_t option, Constants constants) {
    struct Level {
        std::uint64_t number;
        std::string_view begin;  // of the names of its options
    };
    static constexpr Level kLevels[] = {{0, "IP"},
                                        {1, "SO"},
                                        {6, "TCP"},
                                        {17, "UDP"},
                                        {41, "IPV6"},
                                        {0x107, "PACKET"},
                                        {0x10e, "NETLINK"}};
    constexpr unsigned kLevelShift = 32;
    const std::uint64_t number = option & 0xffffffff;
    level &= 0xffffffff;
    const std::string name = schema::flags_text("socket_option", level << kLevelShift | number);
    const auto* known = std::ranges::find(kLevels, level, &Level::number);
    if (is_number(name) && known != std::end(kLevels) && constants != Constants::kNumbers) {
        return fmt::format("{} /* {}_??? */", hex(number), known->begin);
    }
    return constant_text(hex(number), is_number(name) ? hex(number) : name, constants);
}

}  // namespace dyetrace::format
