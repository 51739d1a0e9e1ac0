#include "probes/registers.h"

#include <array>
#include <charconv>

namespace dyetrace::probes {
namespace {

struct NamedRegister {
    std::string_view name;
    std::uint32_t offset;
};

// With letters: r + name, e + name, name, and for some of them parts of one byte.
constexpr std::array kLettered = std::to_array<NamedRegister>({{"ax", 80},
                                                               {"bx", 40},
                                                               {"cx", 88},
                                                               {"dx", 96},
                                                               {"si", 104},
                                                               {"di", 112},
                                                               {"bp", 32},
                                                               {"sp", 152}});
constexpr std::array<std::uint32_t, 8> kNumbered = {72, 64, 56, 48, 24, 16, 8, 0};  // r8 to r15
constexpr std::uint32_t kX86InstructionPointer = 128;

constexpr std::uint32_t kArm64StackPointer = 248;
constexpr unsigned kArm64Registers = 31;

std::optional<Register> lettered_register(std::string_view name) {
    for (const NamedRegister& each : kLettered) {
        if (name == each.name) return Register{each.offset, 2};
        if (name.size() == 3 && name.substr(1) == each.name) {
            if (name[0] == 'r') return Register{each.offset, 8};
            if (name[0] == 'e') return Register{each.offset, 4};
            continue;
        }
        const bool has_high_byte = each.name[1] == 'x';
        if (has_high_byte && name.size() == 2 && name[0] == each.name[0]) {
            if (name[1] == 'l') return Register{each.offset, 1};
            if (name[1] == 'h') return Register{each.offset, 2, 8};
        }
        if (!has_high_byte && name.size() == 3 && name.substr(0, 2) == each.name &&
            name[2] == 'l') {
            return Register{each.offset, 1};
        }
    }
    return std::nullopt;
}

// r8 r8d r8w r8b; some assemblers write r8l.
std::optional<Register> x86_register(std::string_view name) {
    if (name == "rip") return Register{kX86InstructionPointer, 8};
    if (!name.starts_with('r')) return lettered_register(name);
    unsigned number = 0;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 1, end, number);
    if (error != std::errc()) return lettered_register(name);
    if (number < 8 || number > 15) return std::nullopt;
    const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
    const std::uint32_t bytes = suffix.empty()                   ? 8
                                : suffix == "d"                  ? 4
                                : suffix == "w"                  ? 2
                                : suffix == "b" || suffix == "l" ? 1
                                                                 : 0;
    if (bytes == 0) return std::nullopt;
    return Register{kNumbered[number - 8], bytes};
}

std::optional<Register> arm64_register(std::string_view name) {
    if (name == "sp") return Register{kArm64StackPointer, 8};
    if (name == "wsp") return Register{kArm64StackPointer, 4};
    if (name == "fp") name = "x29";
    if (name == "lr") name = "x30";
    if (name.size() < 2 || (name[0] != 'x' && name[0] != 'w')) return std::nullopt;
    unsigned number = 0;
    const char* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 1, end, number);
    if (error != std::errc() || rest != end || number >= kArm64Registers) return std::nullopt;
    return Register{number * 8, name[0] == 'x' ? 8u : 4u};
}

}  // namespace

std::optional<Register> register_of(std::string_view name, Machine machine) {
    return machine == Machine::kX86_64 ? x86_register(name) : arm64_register(name);
}

}  // namespace dyetrace::probes
