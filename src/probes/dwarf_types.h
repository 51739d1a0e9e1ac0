// Types as debugging data (DWARF) describes them: their words, their size, how a value of one is read.
//
//   DW_TAG_const_type ─► DW_TAG_typedef "request_handle" ─► DW_TAG_pointer_type ─► DW_TAG_structure_type "request"
//   type_text: "const request_handle"          peeled: the pointer
//
// Only for FunctionTypes, which keeps the data open. What a file says is followed no deeper than kTypeDepthMax.
#pragma once

#include <elfutils/libdw.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/probe_value.h"

namespace dyetrace::probes {

inline constexpr int kTypeDepthMax = 32;

// Languages that are younger than some <dwarf.h>.
inline constexpr int kDwarfCpp17 = 0x2a, kDwarfCpp20 = 0x2b, kDwarfC17 = 0x2c;

enum class TypeKind : std::uint8_t {
    kInteger,  // numbers, enumerations, truth values, letters
    kPointer,  // and references
    kFloat,
    kAggregate,  // structures, classes, unions
    kArray,
    kOther,
};

// Calls `visit` with each child until it says false. Each costs one of `budget`, and none is visited once that is used up: damaged data may lead
// in circles, or to one type a million times.
void for_each_child(Dwarf_Die parent,
                    std::size_t& budget,
                    const std::function<bool(Dwarf_Die)>& visit);
inline constexpr std::size_t kTypeBudget =
    100'000;  // of children that one question about a type visits

// None is void, or data that is damaged.
std::optional<Dwarf_Die> type_of(Dwarf_Die die);
std::optional<Dwarf_Die> peeled(std::optional<Dwarf_Die> type);

TypeKind kind_of(Dwarf_Die peeled_type);
std::uint64_t size_of(Dwarf_Die type);  // 0 if nobody says
std::string type_text(const std::optional<Dwarf_Die>& type, int depth = 0);
std::string name_of_die(Dwarf_Die die);  // empty if it has none
bool has_calling_convention(Dwarf_Die die, Dwarf_Word convention);
std::optional<Dwarf_Word> number_attribute(Dwarf_Die die, unsigned attribute);

// How a number, pointer or text of this type is read once `value` says where; refuses what is none.
Result<void> describe_value(const std::optional<Dwarf_Die>& type, ProbeValue& value);

struct DwarfMember {
    std::string name;
    std::optional<Dwarf_Die> type;
    std::int64_t offset = 0;  // in bytes, from the begin of the whole
    // Where a bit field lies in its `bytes`, which begin at `offset`.
    std::uint8_t bit_offset = 0, bits = 0;
    std::uint32_t bytes = 0;
};

// Also those of base classes and of members without a name, at most kDwarfMembersMax. A member that cannot be read (a static one, a field of
// more than 8 bytes' bits) is left out.
inline constexpr std::size_t kDwarfMembersMax = 10'000;
std::vector<DwarfMember> dwarf_members_of(Dwarf_Die peeled_aggregate);

using VisitLeaf = std::function<void(TypeKind, std::uint64_t offset, std::uint64_t size)>;

// Calls `leaf` with each number or pointer inside and its offset: members of members, elements of arrays. False if there is
// something else inside, or too much.
bool for_each_leaf(Dwarf_Die peeled_type, const VisitLeaf& leaf);

// Whether C++ hands over the address of an object of this class, because copying or destroying it is more than its bytes.
bool is_passed_by_address(Dwarf_Die peeled_aggregate);

}  // namespace dyetrace::probes
