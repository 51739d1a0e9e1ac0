#include "probes/call_registers.h"

#include <dwarf.h>

#include <algorithm>
#include <array>

#include "probes/dwarf_types.h"

namespace dyetrace::probes {
namespace {

constexpr std::uint64_t kInRegistersBytesMax = 16;
constexpr std::size_t kFloatsMax = 4;  // of a structure that arm64 passes as so many numbers

constexpr std::string_view kOnStack = "it is on the stack";
constexpr std::string_view kFloating = "it is a number of floating point";
constexpr std::string_view kStructure = "it is a structure that is passed as its parts";

// By its rules x86-64 looks at each 8 bytes. -1: the structure is in memory.
int x86_registers(Dwarf_Die type) {
    const std::uint64_t size = size_of(type);
    if (size > kInRegistersBytesMax) return -1;
    std::array<bool, 2> has_integer = {};
    bool is_aligned = true;
    const bool is_plain =
        for_each_leaf(type, [&](TypeKind kind, std::uint64_t offset, std::uint64_t leaf_size) {
            // A long double is never in registers, nor is what a packed structure misplaces.
            is_aligned &= leaf_size > 0 && leaf_size <= 8 && offset % leaf_size == 0;
            if (kind != TypeKind::kFloat && offset < size) has_integer[offset / 8] = true;
        });
    if (!is_plain || !is_aligned) return -1;
    return static_cast<int>(std::count(has_integer.begin(), has_integer.end(), true));
}

// Up to four numbers of floating point of one size.
bool is_of_floats(Dwarf_Die type) {
    std::size_t floats = 0;
    std::uint64_t float_size = 0;
    bool is_uniform = true;
    const bool is_plain =
        for_each_leaf(type, [&](TypeKind kind, std::uint64_t, std::uint64_t leaf_size) {
            is_uniform &= kind == TypeKind::kFloat && (floats == 0 || leaf_size == float_size);
            float_size = leaf_size;
            ++floats;
        });
    return is_plain && is_uniform && floats > 0 && floats <= kFloatsMax;
}

}  // namespace

CallRegisters::CallRegisters(Machine machine, const std::optional<Dwarf_Die>& result_type)
    : machine_(machine) {
    const auto type = peeled(result_type);
    if (!type || machine != Machine::kX86_64 || kind_of(*type) != TypeKind::kAggregate) return;
    if (is_passed_by_address(*type) || x86_registers(*type) < 0) used_ = 1;
}

ArgumentPlace CallRegisters::take(int count, ArgumentPlace::Kind kind) {
    const int all = machine_ == Machine::kX86_64 ? 6 : 8;
    if (used_ + count > all) {
        // What does not fit in whole goes to the stack; on arm64 all that follows too.
        if (machine_ == Machine::kArm64) used_ = all;
        return {ArgumentPlace::Kind::kNowhere, 0, kOnStack};
    }
    const int number = used_;
    used_ += count;
    return {kind, number, {}};
}

ArgumentPlace CallRegisters::next(const std::optional<Dwarf_Die>& given) {
    const auto type = peeled(given);
    if (!type) return {ArgumentPlace::Kind::kNowhere, 0, "its type is not known"};
    const std::uint64_t size = size_of(*type);
    switch (kind_of(*type)) {
        case TypeKind::kFloat:
            return {ArgumentPlace::Kind::kNowhere, 0, kFloating};
        case TypeKind::kAggregate:
            return next_structure(*type);
        case TypeKind::kOther:
            // A pointer to a method is two words, one to a member is one.
            if (dwarf_tag(const_cast<Dwarf_Die*>(&*type)) != DW_TAG_ptr_to_member_type) {
                return take(1, ArgumentPlace::Kind::kValue);
            }
            return take(size > 8 ? 2 : 1, ArgumentPlace::Kind::kValue);
        default:
            if (size <= 8) return take(1, ArgumentPlace::Kind::kValue);
            if (machine_ == Machine::kArm64) used_ += used_ % 2;
            return take(2, ArgumentPlace::Kind::kValue);
    }
}

ArgumentPlace CallRegisters::next_structure(Dwarf_Die type) {
    if (is_passed_by_address(type)) return take(1, ArgumentPlace::Kind::kAddress);
    const ArgumentPlace in_parts = {ArgumentPlace::Kind::kNowhere, 0, kStructure};
    if (machine_ == Machine::kX86_64) {
        const int count = x86_registers(type);
        if (count < 0) return {ArgumentPlace::Kind::kNowhere, 0, kOnStack};
        return count == 0 || take(count, ArgumentPlace::Kind::kValue).why.empty()
                   ? in_parts
                   : ArgumentPlace{ArgumentPlace::Kind::kNowhere, 0, kOnStack};
    }
    if (is_of_floats(type)) return in_parts;
    const std::uint64_t size = size_of(type);
    if (size > kInRegistersBytesMax) return take(1, ArgumentPlace::Kind::kAddress);
    const ArgumentPlace taken = take(static_cast<int>((size + 7) / 8), ArgumentPlace::Kind::kValue);
    return taken.why.empty() ? in_parts : taken;
}

}  // namespace dyetrace::probes
