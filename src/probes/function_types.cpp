#include "probes/function_types.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/spelling.h"
#include "probes/call_registers.h"
#include "probes/dwarf_types.h"

namespace dyetrace::probes {
namespace {

constexpr int kScopesDepthMax = 64;  // namespaces, classes and functions inside each other
constexpr std::size_t kUnitBudget = 20'000'000;  // descriptions that are looked at for one function
constexpr std::size_t kParametersMax = 256;
constexpr std::size_t kMembersListed = 12;
constexpr std::size_t kPathStepsMax = 16;

struct DescribedFunction {
    Dwarf_Die die, unit;
};

// Their rules of calling are C's.
bool speaks_like_c(int language) {
    switch (language) {
        case DW_LANG_C89:
        case DW_LANG_C:
        case DW_LANG_C99:
        case DW_LANG_C11:
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case DW_LANG_ObjC:
        case DW_LANG_ObjC_plus_plus:
        case kDwarfC17:
        case kDwarfCpp17:
        case kDwarfCpp20:
            return true;
        default:
            return false;
    }
}

std::string_view language_name(int language) {
    switch (language) {
        case DW_LANG_Mips_Assembler:
            return "assembler";
        case DW_LANG_Go:
            return "Go";
        case DW_LANG_Rust:
            return "Rust";
        case DW_LANG_D:
            return "D";
        case DW_LANG_Swift:
            return "Swift";
        case DW_LANG_Haskell:
            return "Haskell";
        case DW_LANG_OCaml:
            return "OCaml";
        default:
            return "another language";
    }
}

bool may_hold_functions(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_module || tag == DW_TAG_subprogram ||
           tag == DW_TAG_lexical_block;
}

std::optional<Dwarf_Die> function_inside(Dwarf_Die scope,
                                         std::uint64_t address,
                                         int depth,
                                         std::size_t& budget) {
    std::optional<Dwarf_Die> found;
    if (depth > kScopesDepthMax) return found;
    for_each_child(scope, budget, [&](Dwarf_Die child) {
        const int tag = dwarf_tag(&child);
        if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address) == 1) {
            found = child;
        } else if (may_hold_functions(tag) && dwarf_haschildren(&child)) {
            found = function_inside(child, address, depth + 1, budget);
        }
        return !found;
    });
    return found;
}

// What -gsplit-dwarf put into another file, or the unit itself.
Dwarf_Die whole_unit(Dwarf_Die unit) {
    Dwarf_Half version = 0;
    std::uint8_t type = 0;
    Dwarf_Die split = {};
    const int status =
        dwarf_cu_info(unit.cu, &version, &type, nullptr, &split, nullptr, nullptr, nullptr);
    return status == 0 && type == DW_UT_skeleton && split.cu != nullptr ? split : unit;
}

std::optional<DescribedFunction> described_function(Dwarf* dwarf, std::uint64_t address) {
    Dwarf_Die unit;
    std::size_t budget = kUnitBudget;
    if (dwarf_addrdie(dwarf, address, &unit) != nullptr) {
        unit = whole_unit(unit);
        if (const auto found = function_inside(unit, address, 0, budget)) {
            return DescribedFunction{*found, unit};
        }
    }
    // The index of addresses is not always there, or not whole.
    Dwarf_CU* cu = nullptr;
    Dwarf_Half version = 0;
    std::uint8_t type = 0;
    while (budget > 0 && dwarf_get_units(dwarf, cu, &cu, &version, &type, &unit, nullptr) == 0) {
        if (type == DW_UT_type || dwarf_haspc(&unit, address) != 1) continue;
        unit = whole_unit(unit);
        if (const auto found = function_inside(unit, address, 0, budget)) {
            return DescribedFunction{*found, unit};
        }
    }
    return std::nullopt;
}

bool is_changed_copy(std::string_view name) {
    for (const std::string_view mark : {".isra.", ".constprop.", ".part."}) {
        if (name.find(mark) != name.npos) return true;
    }
    return false;
}

Error untold(const ProgramFunction& function, std::string_view why) {
    return Error(ErrorCode::kUnsupported,
                 fmt::format("the arguments of '{}' have no names: {}", function.shown, why));
}

Result<DescribedFunction> find_function(Dwarf* dwarf, const ProgramFunction& function) {
    if (is_changed_copy(function.name)) {
        return untold(function, "the compiler changed how this copy of a function is called");
    }
    const auto found = described_function(dwarf, function.address);
    if (!found) {
        return Error(ErrorCode::kNotFound,
                     fmt::format("the debugging data describes no function '{}'", function.shown));
    }
    Dwarf_Die unit = found->unit;
    const int language = dwarf_srclang(&unit);
    if (!speaks_like_c(language)) {
        return untold(
            function,
            fmt::format("{} has its own rules for where they are", language_name(language)));
    }
    if (has_calling_convention(found->die, DW_CC_nocall)) {
        return untold(function, "the compiler changed how it is called");
    }
    return *found;
}

struct Parameter {
    std::string name;
    std::optional<Dwarf_Die> type;
    ArgumentPlace place;
};

std::vector<Parameter> parameters_of(Dwarf_Die function) {
    // A copy may lack what it does not use; the function that it was made from has all.
    Dwarf_Attribute attribute;
    Dwarf_Die origin;
    if (dwarf_attr(&function, DW_AT_abstract_origin, &attribute) == nullptr ||
        dwarf_formref_die(&attribute, &origin) == nullptr) {
        origin = function;
    }
    CallRegisters registers(kThisMachine, type_of(function));
    std::vector<Parameter> found;
    std::size_t budget = kTypeBudget;
    for_each_child(origin, budget, [&](Dwarf_Die child) {
        if (dwarf_tag(&child) != DW_TAG_formal_parameter) return true;
        Parameter parameter;
        parameter.name = name_of_die(child);
        // Only the common ancestor of two constructors has it; neither gets it.
        if (parameter.name == "__in_chrg") return true;
        if (parameter.name.empty()) parameter.name = fmt::format("arg{}", found.size());
        parameter.type = type_of(child);
        parameter.place = registers.next(parameter.type);
        found.push_back(std::move(parameter));
        return found.size() < kParametersMax;
    });
    return found;
}

// A value, its type, and whether it is the address of something of that type.
struct Reached {
    ProbeValue value;
    std::optional<Dwarf_Die> type;
    bool is_address = false;
};

Result<Reached> reach(const Parameter& parameter) {
    if (parameter.place.kind == ArgumentPlace::Kind::kNowhere) {
        return Error(ErrorCode::kUnsupported, std::string(parameter.place.why));
    }
    Reached reached;
    reached.value.start = ValueStart::kArgument;
    reached.value.number = parameter.place.number;
    reached.type = parameter.type;
    reached.is_address = parameter.place.kind == ArgumentPlace::Kind::kAddress;
    return reached;
}

Error no_such_name(std::string_view whole,
                   std::string_view kind,
                   std::string_view name,
                   const std::vector<std::string_view>& known) {
    const std::string_view near = base::nearest_word(name, known);
    std::string hint = known.empty() ? fmt::format("it has no {}s", kind) : "it has ";
    for (std::size_t i = 0; i < std::min(known.size(), kMembersListed); ++i) {
        hint += fmt::format("{}{}", i == 0 ? "" : ", ", known[i]);
    }
    if (known.size() > kMembersListed) hint += ", ...";
    if (!near.empty()) hint = fmt::format("did you mean '{}'?", near);
    return Error(ErrorCode::kNotFound,
                 fmt::format("'{}' has no {} '{}'; {}", whole, kind, name, hint));
}

Result<void> step_into(Reached& reached, std::string_view name) {
    auto inner = peeled(reached.type);
    if (inner && kind_of(*inner) == TypeKind::kPointer && !reached.is_address) {
        reached.type = type_of(*inner);
        reached.is_address = true;
        inner = peeled(reached.type);
    }
    if (!inner || kind_of(*inner) != TypeKind::kAggregate) {
        return Error(
            ErrorCode::kInvalidArgument,
            fmt::format(
                "a value of type '{}' has no members, so no '{}'", type_text(reached.type), name));
    }
    if (!reached.is_address && reached.value.hops.empty()) {
        return Error(ErrorCode::kUnsupported, "it is a structure that is passed as its parts");
    }
    const std::vector<DwarfMember> members = dwarf_members_of(*inner);
    const auto member = std::find_if(
        members.begin(), members.end(), [&](const DwarfMember& each) { return each.name == name; });
    if (member == members.end()) {
        std::vector<std::string_view> known;
        for (const DwarfMember& each : members) {
            if (!each.name.empty()) known.push_back(each.name);
        }
        return no_such_name(type_text(reached.type), "member", name, known);
    }
    // Inside a structure that was reached, the last hop goes further; through a pointer there is another.
    if (reached.is_address) reached.value.hops.push_back(0);
    reached.value.hops.back() += member->offset;
    reached.value.bit_offset = member->bit_offset;
    reached.value.bits = member->bits;
    if (member->bits != 0) reached.value.bytes = member->bytes;
    reached.type = member->type;
    reached.is_address = false;
    return {};
}

std::string_view take_step(std::string_view& path) {
    const std::size_t dot = path.find('.');
    const std::string_view step = path.substr(0, dot);
    path = dot == path.npos ? std::string_view() : path.substr(dot + 1);
    return step;
}

Result<ProbeValue> follow(Reached reached, std::string_view path) {
    for (std::size_t steps = 0; !path.empty(); ++steps) {
        if (steps == kPathStepsMax) {
            return Error(ErrorCode::kLimitReached,
                         fmt::format("a path has at most {} members", kPathStepsMax));
        }
        TRY(step_into(reached, take_step(path)));
    }
    if (reached.is_address) {
        return Error(
            ErrorCode::kUnsupported,
            fmt::format("it is a structure: name a member of it ({})", type_text(reached.type)));
    }
    TRY(describe_value(reached.type, reached.value));
    return std::move(reached.value);
}

Reached reach_result(Dwarf_Die function) {
    Reached reached;
    reached.value.start = ValueStart::kResult;
    reached.type = type_of(function);
    return reached;
}

}  // namespace

void FunctionTypes::Close::operator()(Dwarf* dwarf) const {
    dwarf_end(dwarf);
}

Result<FunctionTypes> FunctionTypes::open(const std::string& path,
                                          const std::string& debug_folder) {
    TRY(ElfFile file, ElfFile::open(path));
    if (!file.section(".debug_info") && !file.section(".zdebug_info")) {
        auto debug = find_debug_file(file, debug_folder);
        if (!debug) {
            return Error(
                ErrorCode::kNotFound,
                fmt::format("'{}' has no debugging data (DWARF): arguments have no names", path));
        }
        file = std::move(*debug);
    }
    Dwarf* dwarf = dwarf_begin_elf(file.handle(), DWARF_C_READ, nullptr);
    if (dwarf == nullptr) {
        return Error(
            ErrorCode::kCorrupt,
            fmt::format(
                "the debugging data of '{}' cannot be read: {}", file.path(), dwarf_errmsg(-1)));
    }
    return FunctionTypes(std::move(file), dwarf);
}

Result<FunctionSignature> FunctionTypes::signature(const ProgramFunction& function) const {
    TRY(const DescribedFunction found, find_function(dwarf_.get(), function));
    FunctionSignature signature;
    for (const Parameter& parameter : parameters_of(found.die)) {
        auto reached = reach(parameter);
        auto value = reached.ok() ? follow(std::move(reached).value(), "") : reached.error();
        if (value.ok()) {
            signature.arguments.push_back({parameter.name, std::move(value).value()});
        } else {
            signature.left_out.push_back({parameter.name, value.error().text()});
        }
    }
    if (!type_of(found.die)) return signature;
    auto result = follow(reach_result(found.die), "");
    if (result.ok()) {
        signature.result = std::move(result).value();
    } else {
        signature.left_out.push_back({"result", result.error().text()});
    }
    return signature;
}

Result<ProbeValue> FunctionTypes::argument(const ProgramFunction& function,
                                           std::string_view path) const {
    TRY(const DescribedFunction found, find_function(dwarf_.get(), function));
    const std::string whole(path);
    const std::string_view name = take_step(path);
    const std::vector<Parameter> parameters = parameters_of(found.die);
    std::vector<std::string_view> known;
    for (const Parameter& parameter : parameters) {
        known.push_back(parameter.name);
        if (parameter.name != name) continue;
        const std::string context = fmt::format("argument '{}' of '{}'", whole, function.shown);
        auto reached = reach(parameter).with_context(context);
        TRY(Reached begin, std::move(reached));
        return follow(std::move(begin), path).with_context(context);
    }
    return no_such_name(function.shown, "argument", name, known);
}

Result<ProbeValue> FunctionTypes::result(const ProgramFunction& function,
                                         std::string_view path) const {
    TRY(const DescribedFunction found, find_function(dwarf_.get(), function));
    return follow(reach_result(found.die), path)
        .with_context(fmt::format("the result of '{}'", function.shown));
}

}  // namespace dyetrace::probes
