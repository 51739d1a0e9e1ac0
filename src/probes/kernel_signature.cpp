#include "probes/kernel_signature.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "probes/member_path.h"

namespace dyetrace::probes {
namespace {

constexpr std::uint32_t kRegisterBytes = 8;
constexpr std::uint32_t kRegistersOfOneMax = 2;

// Hands out the registers of arguments from left to right.
class KernelArgumentRegisters {
  public:
    explicit KernelArgumentRegisters(Machine machine) : machine_(machine) {}

    // The register of a number or pointer; none: it is on the stack.
    std::optional<std::int64_t> take_one() {
        return next_ < count() ? std::optional<std::int64_t>(next_++) : std::nullopt;
    }

    // A structure, or a number of 16 bytes.
    void take_wide(std::uint64_t bytes, bool is_number) {
        const std::uint64_t needed = (bytes + kRegisterBytes - 1) / kRegisterBytes;
        if (needed > kRegistersOfOneMax) {
            // arm64 hands over the address of a copy, x86-64 puts the whole on the stack.
            next_ += machine_ == Machine::kArm64 && next_ < count() ? 1u : 0u;
            return;
        }
        if (is_number && machine_ == Machine::kArm64) {
            next_ += next_ % 2;
        }
        if (next_ + needed <= count()) {
            next_ += static_cast<std::uint32_t>(needed);
        } else if (machine_ == Machine::kArm64) {
            next_ = count();
        }
    }

    std::uint32_t count() const { return machine_ == Machine::kArm64 ? 8 : 6; }

  private:
    Machine machine_;
    std::uint32_t next_ = 0;
};

std::string parameter_name(const btf& types, const btf_param& parameter, std::size_t place) {
    const std::string_view name = btf_name(types, parameter.name_off);
    return name.empty() ? fmt::format("argument{}", place) : std::string(name);
}

std::span<const btf_param> parameters_of(const btf& types, std::uint32_t prototype) {
    const btf_type* type = btf__type_by_id(&types, prototype);
    if (type == nullptr || !btf_is_func_proto(type)) {
        return {};
    }
    std::span<const btf_param> all(btf_params(type), btf_vlen(type));
    const bool has_rest = !all.empty() && all.back().type == 0;
    return has_rest ? all.first(all.size() - 1) : all;
}

}  // namespace

KernelSignature KernelSignature::of_function(const btf& types,
                                             std::uint32_t prototype,
                                             Machine machine) {
    KernelSignature signature(types);
    KernelArgumentRegisters registers(machine);
    for (const btf_param& each : parameters_of(types, prototype)) {
        Parameter parameter;
        parameter.name = parameter_name(types, each, signature.parameters_.size());
        parameter.type = each.type;
        const PlainType plain = plain_type(types, each.type);
        const std::int64_t size = btf__resolve_size(&types, each.type);
        const std::uint64_t bytes = size > 0 ? static_cast<std::uint64_t>(size) : 0;
        if (plain.is_kind(BTF_KIND_FLOAT)) {
            parameter.reason = "it is a floating-point number";
        } else if (plain.has_members() || bytes > kRegisterBytes) {
            registers.take_wide(bytes, !plain.has_members());
            parameter.reason = fmt::format(
                "it is handed over as {} bytes of {}", bytes, c_declaration(types, each.type, ""));
        } else if (const auto number = registers.take_one()) {
            parameter.start.number = *number;
        } else {
            parameter.reason = fmt::format("it is on the stack, after the {} that registers hold",
                                           registers.count());
        }
        signature.parameters_.push_back(std::move(parameter));
    }
    return signature;
}

KernelSignature KernelSignature::of_raw_tracepoint(const btf& types,
                                                   std::uint32_t prototype,
                                                   std::uint32_t names) {
    KernelSignature signature(types);
    const std::span parameters = parameters_of(types, prototype);
    const std::span named = parameters_of(types, names);
    for (std::size_t i = 1; i < parameters.size(); ++i) {
        const btf_param& naming = named.size() == parameters.size() ? named[i] : parameters[i];
        Parameter parameter;
        parameter.name = parameter_name(types, naming, i - 1);
        parameter.type = parameters[i].type;
        parameter.start.start = ValueStart::kContext;
        parameter.start.number = static_cast<std::int64_t>((i - 1) * kRegisterBytes);
        if (plain_type(types, parameter.type).has_members()) {
            parameter.reason = "it is a structure";
        }
        signature.parameters_.push_back(std::move(parameter));
    }
    return signature;
}

NamedValues KernelSignature::arguments() const {
    NamedValues all;
    for (const Parameter& each : parameters_) {
        auto value = MemberPath(types_, each.start, each.type, each.name).value();
        if (!each.reason.empty()) {
            all.left_out.push_back({each.name, each.reason});
        } else if (!value.ok()) {
            all.left_out.push_back({each.name, value.error().text()});
        } else {
            all.values.push_back({each.name, std::move(value).value()});
        }
    }
    return all;
}

Result<ProbeValue> KernelSignature::argument(std::string_view path, const std::string& of) const {
    TRY(const std::vector<std::string> parts, split_member_path(path));
    const auto parameter = std::find_if(
        parameters_.begin(), parameters_.end(), [&](auto& each) { return each.name == parts[0]; });
    if (parameter == parameters_.end() || !parameter->reason.empty()) {
        return value_named(arguments(), parts[0], of);
    }
    MemberPath member(types_, parameter->start, parameter->type, parameter->name);
    for (const std::string& part : std::span(parts).subspan(1)) {
        TRY(member.step(part));
    }
    return member.value();
}

}  // namespace dyetrace::probes
