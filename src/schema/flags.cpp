#include "schema/flags.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/json_string.h"
#include "schema/record.h"
#include "schema/text.h"

namespace dyetrace::schema {
namespace {

void append_number(std::string& out, std::uint64_t value, int base) {
    std::array<char, 24> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value, base).ptr;
    out.append(text.data(), end);
}

void append_hex(std::string& out, std::uint64_t value) {
    out.append("0x");
    append_number(out, value, 16);
}

void append_signed32(std::string& out, std::uint64_t value) {
    out.append(std::to_string(static_cast<std::int32_t>(static_cast<std::uint32_t>(value))));
}

// Writes what C's %#03o writes: 000, 007, 022, 0755.
void append_octal(std::string& out, std::uint64_t value) {
    out.append(value < 8 ? "00" : "0");
    append_number(out, value, 8);
}

class Joiner {
  public:
    explicit Joiner(std::string& out) : out_(out) {}
    bool empty() const { return empty_; }
    std::string& next() {
        if (!empty_) {
            out_.push_back('|');
        }
        empty_ = false;
        return out_;
    }
    void add(std::string_view word) {
        if (!word.empty()) {
            next().append(word);
        }
    }

  private:
    std::string& out_;
    bool empty_ = true;
};

// Numbers of processes and groups: `int` in SQL.
bool is_pid(std::string_view type) {
    return type == "pid" || type == "group" || type == "pid_or_group" || type == "pid_by_kind";
}

// A number of the types that have no set: as SQL's _argument_text.
void append_plain(std::string& out, std::string_view type, std::uint64_t value) {
    constexpr std::uint32_t kNobody = 0xffffffff;  // (uid_t)-1: leave it
    if (type == "int" || type == "fd" || type == "fd2" || type == "descriptor" || is_pid(type) ||
        (type == "id" && static_cast<std::uint32_t>(value) == kNobody)) {
        append_signed32(out, value);
    } else if (type == "long" || type == "length" || type == "offset" || type == "offset_low") {
        out.append(std::to_string(static_cast<std::int64_t>(value)));
    } else if (type == "address") {
        append_hex(out, value);
    } else {
        append_number(out, value, 10);
    }
}

void append_number_json(std::string& out, std::string_view type, std::uint64_t value) {
    const FlagSet* set = find_flag_set(type);
    const bool quoted = set != nullptr
                            ? set->rest != FlagRest::kDecimal || !field_word(*set, value).empty()
                            : type == "address";
    out.append(quoted ? "\"" : "");
    append_argument(out, type, value);
    out.append(quoted ? "\"" : "");
}

}  // namespace

const FlagSet* find_flag_set(std::string_view type) {
    const auto sets = flag_sets();
    const auto at = std::lower_bound(
        sets.begin(), sets.end(), type, [](const FlagSet& set, std::string_view t) {
            return set.type < t;
        });
    return at != sets.end() && at->type == type ? &*at : nullptr;
}

std::string_view field_word(const FlagSet& set, std::uint64_t value) {
    const std::uint64_t field = value & set.width_mask & set.field_mask;
    const auto at = std::lower_bound(
        set.values.begin(), set.values.end(), field, [](const FlagLabel& word, std::uint64_t v) {
            return word.value < v;
        });
    return at != set.values.end() && at->value == field ? at->name : std::string_view{};
}

void append_flags(std::string& out, const FlagSet& set, std::uint64_t value) {
    const std::string_view word = field_word(set, value);
    if (word.empty() && set.rest == FlagRest::kDecimal) {
        append_signed32(out, value);
        return;
    }
    Joiner joiner(out);
    joiner.add(set.last ? std::string_view{} : word);
    for (const FlagLabel& bit : set.bits) {
        const bool hidden = bit.cover != 0 && (value & set.width_mask & bit.cover) == bit.cover;
        if ((value & bit.value) == bit.value && !hidden) {
            joiner.add(bit.name);
        }
    }
    const std::uint64_t rest = value & (word.empty() ? set.nameless_mask : set.rest_mask);
    if (set.rest == FlagRest::kOctal) {
        append_octal(joiner.next(), rest);
    } else if (set.rest == FlagRest::kHex && rest != 0) {
        append_hex(joiner.next(), rest);
    }
    joiner.add(set.last ? word : std::string_view{});
    if (joiner.empty()) {
        out.append(set.zero);
    }
}

std::string flags_text(std::string_view type, std::uint64_t value) {
    std::string out;
    append_argument(out, type, value);
    return out;
}

void append_argument(std::string& out, std::string_view type, std::uint64_t value) {
    if (const FlagSet* set = find_flag_set(type)) {
        append_flags(out, *set, value);
    } else {
        append_plain(out, type, value);
    }
}

std::uint64_t argument_value(const SyscallInfo& call,
                             std::size_t index,
                             std::span<const std::uint64_t, 6> arguments) {
    const FlagSet* set = find_flag_set(call.arguments[index].type);
    if (set == nullptr || !set->pair || index == 0) {
        return arguments[index];
    }
    return (arguments[index - 1] << 32) | (arguments[index] & 0xffffffffu);
}

void append_arguments_json(std::string& out,
                           const SyscallInfo& call,
                           std::span<const std::uint64_t, 6> arguments,
                           std::optional<std::string_view> name,
                           std::optional<std::string_view> name2) {
    out.push_back('{');
    bool first = true;
    for (std::size_t i = 0; i < std::min<std::size_t>(call.argument_count, arguments.size()); ++i) {
        const ArgumentInfo argument = argument_of(call, i, arguments);
        const bool is_name = argument.type == "name", is_name2 = argument.type == "name2";
        const auto text = is_name ? name : is_name2 ? name2 : std::nullopt;
        if (!argument.is_scalar || ((is_name || is_name2) && !text)) {
            continue;
        }
        out.append(first ? "\"" : ",\"").append(argument.name).append("\":");
        first = false;
        if (text) {
            // The SQL macro that other readers of a trace have writes it with DuckDB's to_json: both must be equal.
            base::append_json_string(out, *text, base::JsonEscapes::kRequired);
        } else {
            append_number_json(out, argument.type, argument_value(call, i, arguments));
        }
    }
    out.push_back('}');
}

void append_arguments_json(std::string& out, const SyscallInfo& call, const SyscallEvent& event) {
    const auto text_of = [&](Attachment kind) {
        const auto bytes = attachment(event, kind);
        return bytes ? std::optional(escaped(*bytes)) : std::nullopt;
    };
    const auto name = text_of(Attachment::kName), name2 = text_of(Attachment::kName2);
    append_arguments_json(
        out, call, std::span<const std::uint64_t, 6>(event.arguments), name, name2);
}

}  // namespace dyetrace::schema
