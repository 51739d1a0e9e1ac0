#include "probes/dwarf_types.h"

#include <dwarf.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace dyetrace::probes {
namespace {

constexpr std::uint64_t kLeavesMax = 64;  // only what fits into registers is looked into

bool is_qualifier(int tag) {
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type;
}

TypeKind kind_of_base(Dwarf_Die type) {
    switch (number_attribute(type, DW_AT_encoding).value_or(0)) {
        case DW_ATE_boolean:
        case DW_ATE_signed:
        case DW_ATE_signed_char:
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_UTF:
        case DW_ATE_address:
            return TypeKind::kInteger;
        case DW_ATE_float:
        case DW_ATE_complex_float:
        case DW_ATE_imaginary_float:
            return TypeKind::kFloat;
        default:
            return TypeKind::kOther;
    }
}

bool is_signed_number(Dwarf_Die type) {
    if (dwarf_tag(&type) == DW_TAG_enumeration_type) {
        // What it is made of says it, where the compiler wrote that down.
        if (const auto underlying = peeled(type_of(type))) {
            return dwarf_tag(const_cast<Dwarf_Die*>(&*underlying)) == DW_TAG_base_type &&
                   is_signed_number(*underlying);
        }
    }
    const Dwarf_Word encoding = number_attribute(type, DW_AT_encoding).value_or(0);
    return encoding == DW_ATE_signed || encoding == DW_ATE_signed_char;
}

bool is_letter(const std::optional<Dwarf_Die>& type) {
    return type && name_of_die(*type) == "char" && size_of(*type) == 1;
}

// C says "struct request", C++ says "request".
bool says_tags(Dwarf_Die type) {
    Dwarf_Die unit;
    if (dwarf_diecu(&type, &unit, nullptr, nullptr) == nullptr) return false;
    switch (dwarf_srclang(&unit)) {
        case DW_LANG_C89:
        case DW_LANG_C:
        case DW_LANG_C99:
        case DW_LANG_C11:
        case kDwarfC17:
            return true;
        default:
            return false;
    }
}

std::string tagged_text(Dwarf_Die type, std::string_view tag) {
    const std::string name = name_of_die(type);
    if (name.empty()) return fmt::format("{} {{...}}", tag);
    return says_tags(type) ? fmt::format("{} {}", tag, name) : name;
}

std::string pointer_text(const std::optional<Dwarf_Die>& target, std::string_view mark, int depth) {
    if (target) {
        Dwarf_Die die = *target;
        if (dwarf_tag(&die) == DW_TAG_subroutine_type) {
            return fmt::format("{} (*)()", type_text(type_of(die), depth + 1));
        }
    }
    const std::string text = type_text(target, depth + 1);
    return fmt::format("{}{}{}", text, text.ends_with('*') ? "" : " ", mark);
}

std::uint64_t array_count(Dwarf_Die array) {
    std::uint64_t count = 1;
    bool has_bounds = false;
    std::size_t budget = kTypeBudget;
    for_each_child(array, budget, [&](Dwarf_Die child) {
        if (dwarf_tag(&child) != DW_TAG_subrange_type) return true;
        const auto length = number_attribute(child, DW_AT_count);
        const auto last = number_attribute(child, DW_AT_upper_bound);
        const std::uint64_t size = length ? *length : last ? *last + 1 : 0;
        has_bounds = !__builtin_mul_overflow(count, size, &count);
        return has_bounds;
    });
    return has_bounds ? count : 0;
}

// Where the field of bits of a member lies; false if it cannot be read as one number.
bool place_bits(Dwarf_Die die, std::int64_t whole_offset, DwarfMember& member) {
    const std::uint64_t bits = number_attribute(die, DW_AT_bit_size).value_or(0);
    const std::uint64_t unit =
        number_attribute(die, DW_AT_byte_size).value_or(member.type ? size_of(*member.type) : 0);
    if (bits == 0 || bits > 64 || unit == 0 || unit > 8) return false;
    std::uint64_t first = 0;  // from the begin of the whole
    if (const auto from_begin = number_attribute(die, DW_AT_data_bit_offset)) {
        first = *from_begin;
    } else {
        // Older compilers count from the highest bit of the unit.
        const auto from_top = number_attribute(die, DW_AT_bit_offset);
        const std::uint64_t at = number_attribute(die, DW_AT_data_member_location).value_or(0);
        if (!from_top || *from_top + bits > unit * 8 || at > UINT32_MAX) return false;
        first = at * 8 + unit * 8 - *from_top - bits;
    }
    if (first > UINT32_MAX) return false;
    std::uint64_t bytes = unit, begin = first / (unit * 8) * unit;
    if (!std::has_single_bit(unit) || first - begin * 8 + bits > bytes * 8) {
        begin = first / 8;
        bytes = std::bit_ceil((first % 8 + bits + 7) / 8);
        if (bytes > 8) return false;
    }
    member.offset = whole_offset + static_cast<std::int64_t>(begin);
    member.bytes = static_cast<std::uint32_t>(bytes);
    member.bit_offset = static_cast<std::uint8_t>(first - begin * 8);
    member.bits = static_cast<std::uint8_t>(bits);
    return true;
}

bool is_of_tag(Dwarf_Die die, int tag) {
    return dwarf_tag(&die) == tag;
}

bool has_attribute(Dwarf_Die die, unsigned attribute) {
    return dwarf_hasattr(&die, attribute) != 0;
}

bool add_members(Dwarf_Die whole,
                 std::int64_t offset,
                 int depth,
                 std::size_t& budget,
                 std::vector<DwarfMember>& found) {
    if (depth > kTypeDepthMax) return false;
    for_each_child(whole, budget, [&](Dwarf_Die die) {
        const bool is_base = is_of_tag(die, DW_TAG_inheritance);
        if (!is_base && !is_of_tag(die, DW_TAG_member)) return true;
        // Where a virtual base is, only the object knows; static members are no part of it.
        if (has_attribute(die, DW_AT_external) || has_attribute(die, DW_AT_virtuality)) return true;
        const std::uint64_t at = number_attribute(die, DW_AT_data_member_location).value_or(0);
        if (at > UINT32_MAX) return true;
        DwarfMember member;
        member.name = name_of_die(die);
        member.type = type_of(die);
        member.offset = offset + static_cast<std::int64_t>(at);
        const auto inner = peeled(member.type);
        const bool is_open = is_base || member.name.empty();
        if (is_open && inner && kind_of(*inner) == TypeKind::kAggregate) {
            return add_members(*inner, member.offset, depth + 1, budget, found);
        }
        if (!has_attribute(die, DW_AT_bit_size) || place_bits(die, offset, member)) {
            found.push_back(std::move(member));
        }
        return found.size() < kDwarfMembersMax;
    });
    return budget > 0;
}

class LeafWalk {
  public:
    explicit LeafWalk(const VisitLeaf& leaf) : leaf_(leaf) {}

    bool walk(Dwarf_Die type, std::uint64_t offset, int depth) {
        if (depth > kTypeDepthMax || leaves_ > kLeavesMax) return false;
        switch (const TypeKind kind = kind_of(type)) {
            case TypeKind::kInteger:
            case TypeKind::kPointer:
            case TypeKind::kFloat:
                ++leaves_;
                leaf_(kind, offset, size_of(type));
                return true;
            case TypeKind::kArray:
                return walk_array(type, offset, depth);
            case TypeKind::kAggregate:
                return walk_members(type, offset, depth);
            default:
                return false;
        }
    }

  private:
    bool walk_array(Dwarf_Die type, std::uint64_t offset, int depth) {
        const auto element = peeled(type_of(type));
        const std::uint64_t count = array_count(type);
        if (!element || count > kLeavesMax) return false;
        const std::uint64_t size = size_of(*element);
        for (std::uint64_t i = 0; i < count; ++i) {
            if (!walk(*element, offset + i * size, depth + 1)) return false;
        }
        return true;
    }

    bool walk_members(Dwarf_Die type, std::uint64_t offset, int depth) {
        // Something without leaves may be inside something without leaves.
        if (++aggregates_ > kLeavesMax) return false;
        const std::vector<DwarfMember> members = dwarf_members_of(type);
        return std::all_of(members.begin(), members.end(), [&](const DwarfMember& member) {
            const auto inner = peeled(member.type);
            return inner &&
                   walk(*inner, offset + static_cast<std::uint64_t>(member.offset), depth + 1);
        });
    }

    const VisitLeaf& leaf_;
    std::uint64_t leaves_ = 0, aggregates_ = 0;
};

// Whether a method is a copy or move constructor: `name(const name&)`.
bool is_copying_constructor(Dwarf_Die method, std::string_view class_name) {
    if (name_of_die(method) != class_name.substr(0, class_name.find('<'))) return false;
    std::vector<Dwarf_Die> types;
    std::size_t budget = kTypeBudget;
    for_each_child(method, budget, [&](Dwarf_Die child) {
        if (!is_of_tag(child, DW_TAG_formal_parameter)) return true;
        if (const auto type = peeled(type_of(child))) types.push_back(*type);
        return types.size() < 3;
    });
    if (types.size() != 2) return false;  // the first is `this`
    const bool is_reference = is_of_tag(types[1], DW_TAG_reference_type) ||
                              is_of_tag(types[1], DW_TAG_rvalue_reference_type);
    const auto target = peeled(type_of(types[1]));
    return is_reference && target && name_of_die(*target) == class_name;
}

// Written by a programmer, unless that is `= default` or `= delete`.
bool is_more_than_bytes(Dwarf_Die method, std::string_view class_name) {
    if (has_attribute(method, DW_AT_virtuality)) return true;
    if (has_attribute(method, DW_AT_artificial) || has_attribute(method, DW_AT_deleted) ||
        number_attribute(method, DW_AT_defaulted) == Dwarf_Word{DW_DEFAULTED_in_class}) {
        return false;
    }
    return name_of_die(method).starts_with('~') || is_copying_constructor(method, class_name);
}

bool is_passed_by_address(Dwarf_Die type, int depth, std::size_t& budget) {
    if (depth > kTypeDepthMax) return false;
    bool is_so = false;
    const std::string name = name_of_die(type);
    for_each_child(type, budget, [&](Dwarf_Die child) {
        if (is_of_tag(child, DW_TAG_subprogram)) {
            is_so = is_more_than_bytes(child, name);
        } else if (is_of_tag(child, DW_TAG_inheritance) ||
                   (is_of_tag(child, DW_TAG_member) && !has_attribute(child, DW_AT_external))) {
            auto inner = peeled(type_of(child));
            if (inner && kind_of(*inner) == TypeKind::kArray) inner = peeled(type_of(*inner));
            is_so = has_attribute(child, DW_AT_virtuality) ||
                    (inner && kind_of(*inner) == TypeKind::kAggregate &&
                     is_passed_by_address(*inner, depth + 1, budget));
        }
        return !is_so;
    });
    return is_so;
}

}  // namespace

std::optional<Dwarf_Word> number_attribute(Dwarf_Die die, unsigned attribute) {
    Dwarf_Attribute found;
    Dwarf_Word number = 0;
    if (dwarf_attr_integrate(&die, attribute, &found) == nullptr) return std::nullopt;
    if (dwarf_formudata(&found, &number) != 0) return std::nullopt;
    return number;
}

std::optional<Dwarf_Die> type_of(Dwarf_Die die) {
    Dwarf_Attribute attribute;
    Dwarf_Die type;
    if (dwarf_attr_integrate(&die, DW_AT_type, &attribute) == nullptr) return std::nullopt;
    if (dwarf_formref_die(&attribute, &type) == nullptr) return std::nullopt;
    return type;
}

std::optional<Dwarf_Die> peeled(std::optional<Dwarf_Die> type) {
    for (int depth = 0; type && depth < kTypeDepthMax; ++depth) {
        const int tag = dwarf_tag(&*type);
        if (tag != DW_TAG_typedef && !is_qualifier(tag)) return type;
        type = type_of(*type);
    }
    return std::nullopt;
}

TypeKind kind_of(Dwarf_Die type) {
    switch (dwarf_tag(&type)) {
        case DW_TAG_base_type:
            return kind_of_base(type);
        case DW_TAG_enumeration_type:
            return TypeKind::kInteger;
        case DW_TAG_pointer_type:
        case DW_TAG_reference_type:
        case DW_TAG_rvalue_reference_type:
            return TypeKind::kPointer;
        case DW_TAG_unspecified_type:  // nullptr_t
            return TypeKind::kPointer;
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
        case DW_TAG_union_type:
            return TypeKind::kAggregate;
        case DW_TAG_array_type:
            return TypeKind::kArray;
        default:
            return TypeKind::kOther;
    }
}

std::uint64_t size_of(Dwarf_Die given) {
    const auto type = peeled(given);
    if (!type) return 0;
    if (kind_of(*type) == TypeKind::kPointer) return 8;
    if (const auto size = number_attribute(*type, DW_AT_byte_size)) return *size;
    if (kind_of(*type) == TypeKind::kArray) {
        const auto element = type_of(*type);
        std::uint64_t size = 0;
        // An array of arrays is one array with two bounds, so that this goes no deeper than the file says.
        const auto inner = peeled(element);
        if (!inner || kind_of(*inner) == TypeKind::kArray) return 0;
        return __builtin_mul_overflow(array_count(*type), size_of(*inner), &size) ? 0 : size;
    }
    if (dwarf_tag(const_cast<Dwarf_Die*>(&*type)) == DW_TAG_enumeration_type) return 4;
    return 0;
}

std::string name_of_die(Dwarf_Die die) {
    const char* name = dwarf_diename(&die);
    return name == nullptr ? "" : name;
}

bool has_calling_convention(Dwarf_Die die, Dwarf_Word convention) {
    return number_attribute(die, DW_AT_calling_convention) == convention;
}

std::string type_text(const std::optional<Dwarf_Die>& type, int depth) {
    if (!type) return "void";
    if (depth > kTypeDepthMax) return "...";
    Dwarf_Die die = *type;
    const int tag = dwarf_tag(&die);
    if (is_qualifier(tag)) {
        const std::string_view word = tag == DW_TAG_const_type      ? "const"
                                      : tag == DW_TAG_volatile_type ? "volatile"
                                      : tag == DW_TAG_atomic_type   ? "_Atomic"
                                                                    : "restrict";
        const std::string text = type_text(type_of(die), depth + 1);
        return fmt::format(fmt::runtime(text.ends_with('*') ? "{1} {0}" : "{0} {1}"), word, text);
    }
    switch (tag) {
        case DW_TAG_pointer_type:
            return pointer_text(type_of(die), "*", depth);
        case DW_TAG_reference_type:
            return pointer_text(type_of(die), "&", depth);
        case DW_TAG_rvalue_reference_type:
            return pointer_text(type_of(die), "&&", depth);
        case DW_TAG_array_type:
            return fmt::format("{}[{}]", type_text(type_of(die), depth + 1), array_count(die));
        case DW_TAG_structure_type:
            return tagged_text(die, "struct");
        case DW_TAG_class_type:
            return tagged_text(die, "class");
        case DW_TAG_union_type:
            return tagged_text(die, "union");
        case DW_TAG_enumeration_type:
            return tagged_text(die, "enum");
        default:
            return name_of_die(die).empty() ? "?" : name_of_die(die);
    }
}

Result<void> describe_value(const std::optional<Dwarf_Die>& type, ProbeValue& value) {
    const auto refuse = [&](std::string_view why) {
        return Error(ErrorCode::kUnsupported, fmt::format("it is {} ({})", why, type_text(type)));
    };
    const auto inner = peeled(type);
    if (!inner) return refuse("of no type that is known");
    value.type = type_text(type);
    const std::uint64_t size = size_of(*inner);
    switch (kind_of(*inner)) {
        case TypeKind::kInteger:
            if (size != 1 && size != 2 && size != 4 && size != 8) return refuse("too large");
            if (value.bits == 0) value.bytes = static_cast<std::uint32_t>(size);
            value.is_signed = is_signed_number(*inner);
            break;
        case TypeKind::kPointer:
            value.bytes = 8;
            if (is_letter(peeled(type_of(*inner))) &&
                dwarf_tag(const_cast<Dwarf_Die*>(&*inner)) == DW_TAG_pointer_type) {
                value.form = ValueForm::kText;
                value.is_in_user_memory = true;
            }
            break;
        case TypeKind::kFloat:
            return refuse("a number of floating point");
        case TypeKind::kAggregate:
            return refuse("a structure: name a member of it");
        case TypeKind::kArray:
            if (!is_letter(peeled(type_of(*inner))) || size == 0 || size > UINT32_MAX) {
                return refuse("an array");
            }
            value.form = ValueForm::kTextArray;
            value.bytes = static_cast<std::uint32_t>(size);
            break;
        case TypeKind::kOther:
            return refuse("no number, pointer or text");
    }
    if (!value.hops.empty()) value.is_in_user_memory = true;
    return {};
}

std::vector<DwarfMember> dwarf_members_of(Dwarf_Die aggregate) {
    std::vector<DwarfMember> found;
    std::size_t budget = kTypeBudget;
    add_members(aggregate, 0, 0, budget, found);
    return found;
}

bool for_each_leaf(Dwarf_Die type, const VisitLeaf& leaf) {
    return LeafWalk(leaf).walk(type, 0, 0);
}

bool is_passed_by_address(Dwarf_Die type) {
    // Clang says it; GCC does not.
    if (has_calling_convention(type, DW_CC_pass_by_reference)) return true;
    if (has_calling_convention(type, DW_CC_pass_by_value)) return false;
    std::size_t budget = kTypeBudget;
    return is_passed_by_address(type, 0, budget);
}

void for_each_child(Dwarf_Die parent,
                    std::size_t& budget,
                    const std::function<bool(Dwarf_Die)>& visit) {
    Dwarf_Die child;
    for (int status = dwarf_child(&parent, &child); status == 0 && budget > 0;
         status = dwarf_siblingof(&child, &child)) {
        --budget;
        if (!visit(child)) return;
    }
}

}  // namespace dyetrace::probes
