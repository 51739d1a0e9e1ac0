#include "probes/member_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <utility>

#include "base/harmless.h"
#include "probes/near_names.h"

namespace dyetrace::probes {
namespace {

constexpr std::size_t kPathBytesMax = 1024;
constexpr int kUnnamedNestedMax = 16;
constexpr std::size_t kMembersMax = 100'000;  // looked at for one name
constexpr std::uint32_t kBitsOfByte = 8;

Error no_such_value(ErrorCode code, std::string message) {
    return Error(code, std::move(message));
}

std::optional<std::int64_t> index_in(const std::string& part) {
    std::int64_t index = 0;
    const char* const end = part.data() + part.size();
    const auto [rest, error] = std::from_chars(part.data(), end, index);
    const bool is_index = error == std::errc() && rest == end && part[0] != '-';
    return is_index ? std::optional(index) : std::nullopt;
}

struct FoundMember {
    std::uint32_t type = 0;
    std::uint64_t bit = 0;   // from the begin of the structure that was asked
    std::uint32_t bits = 0;  // of a bit field, or 0
};

// Looks for a member by name, also in the unnamed structures and unions inside.
class MemberSearch {
  public:
    MemberSearch(const btf& types, std::string_view name) : types_(types), name_(name) {}

    std::optional<FoundMember> in(const btf_type& structure, int nested = 0) {
        const std::span members(btf_members(&structure), btf_vlen(&structure));
        for (std::uint32_t i = 0; i < members.size(); ++i) {
            if (++looked_at_ > kMembersMax) {
                return std::nullopt;
            }
            const std::uint64_t bit = btf_member_bit_offset(&structure, i);
            const std::string_view name = btf_name(types_, members[i].name_off);
            const PlainType plain = plain_type(types_, members[i].type);
            if (!name.empty() && name == name_) {
                return found(structure, i, plain);
            }
            if (!name.empty()) {
                names_.push_back(name);
            } else if (plain.has_members() && nested < kUnnamedNestedMax) {
                if (auto inside = in(*plain.type, nested + 1)) {
                    inside->bit += bit;
                    return inside;
                }
            }
        }
        return std::nullopt;
    }

    // The names of all members that are called otherwise.
    const std::vector<std::string_view>& names() const { return names_; }

  private:
    // Bit fields stand in the member where the structure says so, and in the integer's type where it does not.
    FoundMember found(const btf_type& structure, std::uint32_t i, const PlainType& plain) const {
        FoundMember member{.type = btf_members(&structure)[i].type,
                           .bit = btf_member_bit_offset(&structure, i),
                           .bits = btf_member_bitfield_size(&structure, i)};
        if (!btf_kflag(&structure) && plain.is_kind(BTF_KIND_INT) &&
            (btf_int_offset(plain.type) != 0 ||
             btf_int_bits(plain.type) != plain.type->size * kBitsOfByte)) {
            member.bit += btf_int_offset(plain.type);
            member.bits = btf_int_bits(plain.type);
        }
        return member;
    }

    const btf& types_;
    std::string_view name_;
    std::size_t looked_at_ = 0;
    std::vector<std::string_view> names_;
};

bool is_bytes_of_a_number(std::uint32_t bytes) {
    return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

}  // namespace

Result<std::vector<std::string>> split_member_path(std::string_view text) {
    const auto bad = [&](std::string_view why) {
        return no_such_value(ErrorCode::kInvalidArgument,
                             fmt::format("'{}' names no value: {}",
                                         base::make_harmless(text.substr(0, kPathBytesMax)),
                                         why));
    };
    if (text.size() > kPathBytesMax) {
        return bad(fmt::format("it has more than {} bytes", kPathBytesMax));
    }
    std::vector<std::string> parts(1);
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '.') {
            parts.emplace_back();
        } else if (text[at] == '[') {
            const std::size_t end = text.find(']', at);
            const std::string index(text.substr(at + 1, end - at - 1));
            if (end == text.npos || !index_in(index)) {
                return bad("an element is written as [3]");
            }
            parts.push_back(index);
            at = end;
            if (at + 1 < text.size() && text[at + 1] != '.' && text[at + 1] != '[') {
                return bad("a point is missing after ]");
            }
        } else {
            parts.back().push_back(text[at]);
        }
    }
    if (std::any_of(parts.begin(), parts.end(), [](auto& part) { return part.empty(); })) {
        return bad("a name is missing");
    }
    if (parts.size() > kPartsMax) {
        return bad(fmt::format("it has more than {} parts", kPartsMax));
    }
    return parts;
}

MemberPath::MemberPath(const btf& types, ProbeValue start, std::uint32_t type, std::string name)
    : types_(types), value_(std::move(start)), type_(type), name_(std::move(name)) {}

std::string MemberPath::what_it_is() const {
    return fmt::format("'{}' ({})", name_, c_declaration(types_, type_, ""));
}

Result<void> MemberPath::step(const std::string& part) {
    PlainType plain = plain_type(types_, type_);
    const std::optional<std::int64_t> index = index_in(part);
    if (plain.is_kind(BTF_KIND_PTR)) {
        const std::string pointer = what_it_is();
        TRY(follow_pointer(plain));
        plain = plain_type(types_, type_);
        if (index || (part == "value" && !plain.has_members())) {
            TRY(step_to_element(type_, 0, index.value_or(0)));
            name_ += "." + part;
            return {};
        }
        if (!plain.has_members()) {
            return no_such_value(ErrorCode::kNotFound,
                                 fmt::format("{} has no '{}', what it points to is '{}.value'",
                                             pointer,
                                             base::make_harmless(part),
                                             name_));
        }
    }
    if ((plain.has_members() || plain.is_kind(BTF_KIND_ARRAY)) && !offset_) {
        return no_such_value(
            ErrorCode::kUnsupported,
            fmt::format("{} is handed over itself, not its address", what_it_is()));
    }
    if (plain.has_members()) {
        TRY(step_to_member(plain, part));
    } else if (plain.is_kind(BTF_KIND_ARRAY)) {
        if (!index) {
            return no_such_value(
                ErrorCode::kNotFound,
                fmt::format("{}: an element of it is '{}.0'", what_it_is(), name_));
        }
        const auto* array = btf_array(plain.type);
        TRY(step_to_element(array->type, array->nelems, *index));
    } else {
        return no_such_value(
            ErrorCode::kNotFound,
            fmt::format("{} has no '{}'", what_it_is(), base::make_harmless(part)));
    }
    name_ += "." + part;
    return {};
}

// Afterwards the path is at the begin of what the pointer points to.
Result<void> MemberPath::follow_pointer(const PlainType& pointer) {
    std::uint32_t target = pointer.type->type;
    PlainType plain = plain_type(types_, target);
    if (plain.is_kind(BTF_KIND_FWD)) {
        const std::string name(btf_name(types_, plain.type->name_off));
        const std::int32_t whole = btf__find_by_name_kind(
            &types_, name.c_str(), btf_kflag(plain.type) ? BTF_KIND_UNION : BTF_KIND_STRUCT);
        if (whole > 0) {
            target = static_cast<std::uint32_t>(whole);
        }
    }
    const PlainType whole = plain_type(types_, target);
    const auto refused = [&](std::string_view why) {
        return no_such_value(ErrorCode::kUnsupported, fmt::format("{}: {}", what_it_is(), why));
    };
    if (whole.type == nullptr) {
        return refused("what it points to has no type");
    }
    if (whole.is_kind(BTF_KIND_FWD)) {
        return refused("the kernel's types do not say what is in it");
    }
    if (whole.is_kind(BTF_KIND_FUNC_PROTO)) {
        return refused("it points to a function");
    }
    if (plain.is_per_cpu) {
        return refused("each CPU has its own");
    }
    if (plain.is_in_user_memory && offset_ && !value_.is_in_user_memory) {
        return refused("it points from the kernel's memory into the process's");
    }
    value_.is_in_user_memory = value_.is_in_user_memory || plain.is_in_user_memory;
    if (offset_) {
        value_.hops.push_back(*offset_);
    }
    offset_ = 0;
    type_ = target;
    return {};
}

Result<void> MemberPath::step_to_member(const PlainType& structure, const std::string& member) {
    MemberSearch search(types_, member);
    const std::optional<FoundMember> found = search.in(*structure.type);
    if (!found) {
        return no_such_value(ErrorCode::kNotFound,
                             fmt::format("{} has no '{}'{}",
                                         c_declaration(types_, structure.id, ""),
                                         base::make_harmless(member),
                                         perhaps(member, search.names())));
    }
    type_ = found->type;
    if (found->bits != 0) {
        return place_bits(found->bit, found->bits);
    }
    offset_ = *offset_ + static_cast<std::int64_t>(found->bit / kBitsOfByte);
    return {};
}

// Count 0: nobody says how many there are.
Result<void> MemberPath::step_to_element(std::uint32_t element,
                                         std::uint64_t count,
                                         std::int64_t index) {
    const std::int64_t bytes = btf__resolve_size(&types_, element);
    if (bytes < 0) {
        return no_such_value(ErrorCode::kUnsupported,
                             fmt::format("{}: the size of an element is unknown", what_it_is()));
    }
    if (count != 0 && static_cast<std::uint64_t>(index) >= count) {
        return no_such_value(
            ErrorCode::kInvalidArgument,
            fmt::format("{}: its last element is '{}.{}'", what_it_is(), name_, count - 1));
    }
    if (index > kIndexMax) {
        return no_such_value(
            ErrorCode::kInvalidArgument,
            fmt::format("element {} of '{}' is beyond {}", index, name_, kIndexMax));
    }
    offset_ = *offset_ + index * bytes;
    type_ = element;
    return {};
}

// Reads the integer that has the bits, aligned as C does; a packed field that crosses it, the fewest bytes that have them.
Result<void> MemberPath::place_bits(std::uint64_t bit, std::uint32_t bits) {
    const PlainType plain = plain_type(types_, type_);
    std::uint64_t bytes = plain.is_kind(BTF_KIND_INT) || plain.is_enum() ? plain.type->size : 0;
    const bool is_number = is_bytes_of_a_number(static_cast<std::uint32_t>(bytes));
    std::uint64_t byte = is_number ? bit / kBitsOfByte / bytes * bytes : 0;
    if (is_number && bit - byte * kBitsOfByte + bits > bytes * kBitsOfByte) {
        byte = bit / kBitsOfByte;
        for (bytes = 1; bytes < 16 && bit % kBitsOfByte + bits > bytes * kBitsOfByte; bytes *= 2) {
        }
    }
    if (!is_number || bytes > 8) {
        return no_such_value(ErrorCode::kUnsupported,
                             fmt::format("{}: its {} bits are not in 8 bytes", what_it_is(), bits));
    }
    offset_ = *offset_ + static_cast<std::int64_t>(byte);
    value_.bit_offset = static_cast<std::uint8_t>(bit - byte * kBitsOfByte);
    value_.bits = static_cast<std::uint8_t>(bits);
    unit_bytes_ = static_cast<std::uint32_t>(bytes);
    return {};
}

Result<ProbeValue> MemberPath::value() const {
    ProbeValue value = value_;
    const PlainType plain = plain_type(types_, type_);
    value.type = c_declaration(types_, type_, "");
    if (offset_) {
        value.hops.push_back(*offset_);
    }
    if (plain.is_kind(BTF_KIND_PTR)) {
        describe_pointer(plain, value);
        return value;
    }
    if (plain.is_kind(BTF_KIND_INT) || plain.is_enum()) {
        TRY(describe_number(plain, value));
        return value;
    }
    if (plain.is_kind(BTF_KIND_ARRAY)) {
        const auto* array = btf_array(plain.type);
        if (is_character(types_, plain_type(types_, array->type))) {
            value.form = ValueForm::kTextArray;
            value.bytes = array->nelems != 0 ? array->nelems : kOpenTextBytes;
            value.is_signed = false;
            return value;
        }
        return no_such_value(
            ErrorCode::kUnsupported,
            fmt::format("{}: one element can be read, as '{}.0'", what_it_is(), name_));
    }
    if (plain.has_members()) {
        return no_such_value(ErrorCode::kUnsupported,
                             fmt::format("{}{}",
                                         what_it_is(),
                                         offset_ ? ": one member of it can be read"
                                                 : " is handed over itself, not its address"));
    }
    return no_such_value(ErrorCode::kUnsupported, fmt::format("{}: it is no number", what_it_is()));
}

Result<void> MemberPath::describe_number(const PlainType& plain, ProbeValue& value) const {
    value.form = ValueForm::kInteger;
    value.bytes = unit_bytes_ != 0 ? unit_bytes_ : plain.type->size;
    value.is_signed = plain.is_enum() ? btf_kflag(plain.type)
                                      : (btf_int_encoding(plain.type) & BTF_INT_SIGNED) != 0;
    if (!is_bytes_of_a_number(value.bytes)) {
        return no_such_value(ErrorCode::kUnsupported,
                             fmt::format("{}: it has {} bytes", what_it_is(), value.bytes));
    }
    return {};
}

void MemberPath::describe_pointer(const PlainType& plain, ProbeValue& value) const {
    const PlainType target = plain_type(types_, plain.type->type);
    // The address of a text in a process is shown where the way to it leads through the kernel's memory.
    const bool changes_memory =
        target.is_in_user_memory && offset_.has_value() && !value_.is_in_user_memory;
    const bool is_text = points_to_text(types_, plain) && !target.is_per_cpu && !changes_memory;
    value.form = is_text ? ValueForm::kText : ValueForm::kInteger;
    value.bytes = 8;
    value.is_signed = false;
    if (is_text) {
        value.is_in_user_memory = value.is_in_user_memory || target.is_in_user_memory;
    }
}

}  // namespace dyetrace::probes
