#include "probes/usdt_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "base/result.h"
#include "probes/registers.h"

namespace dyetrace::probes {
namespace {

// Programs of an agent's host write these texts: a message repeats no more of them than a person reads.
constexpr std::size_t kQuotedBytesMax = 60;

std::string quoted(std::string_view text) {
    std::string copy;
    for (const char letter : text.substr(0, kQuotedBytesMax)) {
        copy += letter >= ' ' && letter < 0x7f ? letter : '?';
    }
    return "'" + copy + "'";
}

Error refusal(std::string why) {
    return Error(ErrorCode::kUnsupported, std::move(why));
}

// Decimal or 0x…, with sign; the whole text.
std::optional<std::int64_t> whole_number(std::string_view text) {
    const bool is_negative = text.starts_with('-');
    if (is_negative || text.starts_with('+')) text.remove_prefix(1);
    const bool is_hexadecimal = text.starts_with("0x") || text.starts_with("0X");
    if (is_hexadecimal) text.remove_prefix(2);
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value, is_hexadecimal ? 16 : 10);
    if (error != std::errc() || rest != end) return std::nullopt;
    return static_cast<std::int64_t>(is_negative ? ~value + 1 : value);
}

std::string_view trimmed(std::string_view text) {
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    return text;
}

bool is_vector_register(std::string_view name, Machine machine) {
    if (machine == Machine::kX86_64) {
        return name.starts_with("xmm") || name.starts_with("ymm") || name.starts_with("zmm") ||
               name.starts_with("st");
    }
    return name.size() > 1 && std::string_view("bhsdqv").find(name[0]) != std::string_view::npos &&
           name[1] >= '0' && name[1] <= '9';
}

Result<void> read_register(std::string_view name, Machine machine, ProbeValue& value) {
    if (const auto found = register_of(name, machine)) {
        value.start = ValueStart::kRegister;
        value.number = found->offset;
        if (found->bit_offset != 0) {
            value.bytes = found->bytes;
            value.bit_offset = static_cast<std::uint8_t>(found->bit_offset);
            value.bits = 8;
        }
        return {};
    }
    if (is_vector_register(name, machine)) return refusal("it is in a register of floating point");
    return refusal(fmt::format("it is in {}, which is no register that can be read", quoted(name)));
}

Result<void> read_memory(std::string_view base,
                         std::int64_t displacement,
                         Machine machine,
                         ProbeValue& value) {
    const auto found = register_of(base, machine);
    if (!found || found->bytes != 8) {
        return refusal(
            fmt::format("its address is in {}, which is no register of addresses", quoted(base)));
    }
    value.start = ValueStart::kRegister;
    value.number = found->offset;
    value.hops = {displacement};
    value.is_in_user_memory = true;
    return {};
}

Result<void> read_constant(std::string_view digits, ProbeValue& value) {
    const auto number = whole_number(digits);
    if (!number) return refusal(fmt::format("{} is only a linker's name", quoted(digits)));
    value.start = ValueStart::kConstant;
    value.number = *number;
    return {};
}

// Operands are %register, $number, displacement(%base), displacement(%base,%index,scale) or symbol+displacement(%rip).
Result<void> read_x86_operand(std::string_view operand, ProbeValue& value) {
    if (operand.starts_with('%') && operand.find(':') == operand.npos) {
        return read_register(operand.substr(1), Machine::kX86_64, value);
    }
    if (operand.starts_with('$')) return read_constant(operand.substr(1), value);
    if (operand.find(':') != operand.npos) return refusal("it is in the memory of a thread");
    const std::size_t open = operand.find('(');
    if (open == operand.npos || !operand.ends_with(')')) {
        return refusal(fmt::format("{} is only a linker's name", quoted(operand)));
    }
    const std::string_view inside = trimmed(operand.substr(open + 1, operand.size() - open - 2));
    if (inside.find(',') != inside.npos) return refusal("its address is the sum of two registers");
    const std::string_view before = trimmed(operand.substr(0, open));
    const auto displacement =
        before.empty() ? std::optional<std::int64_t>(0) : whole_number(before);
    if (!displacement) return refusal(fmt::format("{} is only a linker's name", quoted(operand)));
    if (!inside.starts_with('%'))
        return refusal(fmt::format("{} has no register", quoted(operand)));
    return read_memory(inside.substr(1), *displacement, Machine::kX86_64, value);
}

// Operands are register, number, [base] or [base, displacement].
Result<void> read_arm64_operand(std::string_view operand, ProbeValue& value) {
    if (operand.starts_with('[')) {
        if (!operand.ends_with(']')) {
            return refusal(fmt::format("{} changes its register", quoted(operand)));
        }
        const std::string_view inside = operand.substr(1, operand.size() - 2);
        const std::size_t comma = inside.find(',');
        const std::string_view base = trimmed(inside.substr(0, comma));
        if (comma == inside.npos) return read_memory(base, 0, Machine::kArm64, value);
        std::string_view rest = trimmed(inside.substr(comma + 1));
        if (rest.starts_with('#')) rest.remove_prefix(1);
        if (const auto displacement = whole_number(rest)) {
            return read_memory(base, *displacement, Machine::kArm64, value);
        }
        const bool is_register =
            register_of(rest.substr(0, rest.find(',')), Machine::kArm64).has_value();
        return refusal(is_register ? "its address is the sum of two registers"
                                   : fmt::format("{} is only a linker's name", quoted(operand)));
    }
    if (operand == "xzr" || operand == "wzr") return read_constant("0", value);
    if (operand.starts_with('#')) return read_constant(operand.substr(1), value);
    if (whole_number(operand)) return read_constant(operand, value);
    return read_register(operand, Machine::kArm64, value);
}

Result<void> read_operand(std::string_view operand, Machine machine, ProbeValue& value) {
    operand = trimmed(operand);
    return machine == Machine::kX86_64 ? read_x86_operand(operand, value)
                                       : read_arm64_operand(operand, value);
}

struct SizedOperand {
    std::string_view size, operand;
};

// Arguments stand apart by blanks, and arm64 has blanks inside brackets too.
std::vector<SizedOperand> split(std::string_view text) {
    std::vector<SizedOperand> found;
    while (found.size() < kMarkArgumentsMax) {
        text = trimmed(text);
        if (text.empty()) break;
        std::size_t end = 0;
        for (int depth = 0; end < text.size() && (text[end] != ' ' || depth > 0); ++end) {
            depth += text[end] == '[' || text[end] == '(' ? 1 : 0;
            depth -= text[end] == ']' || text[end] == ')' ? 1 : 0;
        }
        const std::string_view whole = text.substr(0, end);
        const std::size_t at = whole.find('@');
        if (at == whole.npos) {
            found.push_back({{}, whole});
        } else {
            found.push_back({whole.substr(0, at), whole.substr(at + 1)});
        }
        text.remove_prefix(end);
    }
    return found;
}

Result<ProbeValue> read_sized_operand(const SizedOperand& sized, Machine machine) {
    ProbeValue value;
    if (sized.size.ends_with('f')) return refusal("it is a number of floating point");
    const auto size = whole_number(sized.size);
    const std::int64_t bytes = size ? std::abs(std::max<std::int64_t>(*size, -16)) : 0;
    if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8) {
        return refusal(fmt::format("its size is {}", quoted(sized.size)));
    }
    value.bytes = static_cast<std::uint32_t>(bytes);
    value.is_signed = *size < 0;
    value.type = fmt::format("{}int{}_t", value.is_signed ? "" : "u", 8 * bytes);
    TRY(read_operand(sized.operand, machine, value));
    return value;
}

}  // namespace

MarkArguments mark_arguments(std::string_view text, Machine machine) {
    MarkArguments arguments;
    std::size_t number = 0;
    for (const SizedOperand& sized : split(text)) {
        const std::string name = fmt::format("arg{}", number++);
        auto value = read_sized_operand(sized, machine);
        if (value.ok()) {
            arguments.values.push_back({name, std::move(value).value()});
        } else {
            arguments.left_out.push_back({name, value.error().text()});
        }
    }
    return arguments;
}

}  // namespace dyetrace::probes
