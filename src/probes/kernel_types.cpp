#include "probes/kernel_types.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>

#include "base/file.h"
#include "base/harmless.h"
#include "probes/kernel_functions.h"
#include "probes/member_path.h"
#include "probes/near_names.h"

namespace dyetrace::probes {
namespace {

constexpr std::string_view kTracepointPrefix = "btf_trace_";
constexpr std::string_view kElfMagic = "\177ELF";

std::string tracepoint_as_a_type(const std::string& name) {
    return std::string(kTracepointPrefix) + name;
}

Result<BtfOwner> read_types(const std::string& path, btf* base) {
    std::array<std::byte, kElfMagic.size()> begin{};
    {
        TRY(const base::Fd file, base::open_file(path, O_RDONLY));
        TRY([[maybe_unused]] const std::size_t bytes, base::read_up_to(file, begin));
    }
    errno = 0;
    BtfOwner types(base::text_of(begin) == kElfMagic ? btf__parse_elf_split(path.c_str(), base)
                                                     : btf__parse_raw_split(path.c_str(), base));
    if (types == nullptr) {
        return Error(ErrorCode::kCorrupt,
                     fmt::format("{} has no types in BTF ({})", path, std::strerror(errno)));
    }
    return types;
}

bool is_one_name(const std::string& pattern) {
    return pattern.find_first_of("*?[\\") == pattern.npos;
}

}  // namespace

Result<KernelTypes> KernelTypes::open(KernelTypesFiles files, Machine machine) {
    auto types = read_types(files.kernel, nullptr);
    if (!types.ok() && types.error().code() == ErrorCode::kNotFound) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the types of the kernel are not at {}: it is built without "
                                 "CONFIG_DEBUG_INFO_BTF",
                                 files.kernel));
    }
    KernelTypes kernel(std::move(files), machine);
    TRY(BtfOwner read, std::move(types));
    kernel.add_part("", std::move(read));
    return kernel;
}

void KernelTypes::add_part(std::string module, BtfOwner types) {
    const std::uint32_t begin =
        parts_.empty() ? 1 : btf__type_cnt(parts_.front().types.get());  // a module's numbers go on
    for (std::uint32_t id = begin; id < btf__type_cnt(types.get()); ++id) {
        const btf_type& type = *btf__type_by_id(types.get(), id);
        const std::string_view name = btf_name(*types, type.name_off);
        if (btf_is_func(&type) && !name.empty()) {
            functions_.emplace(name, Named{parts_.size(), id});
        } else if (btf_is_typedef(&type) && name.starts_with(kTracepointPrefix)) {
            tracepoints_.emplace(name, Named{parts_.size(), id});
        }
    }
    parts_.push_back({std::move(module), std::move(types)});
}

void KernelTypes::read_modules() {
    if (has_modules_ || files_.modules.empty()) {
        return;
    }
    has_modules_ = true;
    const auto names = base::list_folder(files_.modules);
    if (!names.ok()) {
        problems_.push_back(names.error().text());
        return;
    }
    for (const std::string& name : names.value()) {
        const std::string path = files_.modules + "/" + name;
        if (name == "vmlinux" || path == files_.kernel) {
            continue;
        }
        auto types = read_types(path, parts_.front().types.get());
        if (types.ok()) {
            add_part(name, std::move(types).value());
        } else {
            problems_.push_back(types.error().text());
        }
    }
}

std::vector<KernelFunction> KernelTypes::functions(const std::string& pattern) {
    const bool is_name = is_one_name(pattern);
    if (!is_name || functions_.find(pattern) == functions_.end()) {
        read_modules();
    }
    std::vector<KernelFunction> found;
    const auto [first, last] =
        is_name ? functions_.equal_range(pattern) : std::pair(functions_.begin(), functions_.end());
    for (auto each = first; each != last; ++each) {
        const auto& [part, id] = each->second;
        const std::string name(each->first);
        if (is_name || matches_pattern(name, pattern)) {
            const btf& types = *parts_[part].types;
            found.push_back({name,
                             parts_[part].module,
                             c_declaration(types, btf__type_by_id(&types, id)->type, name)});
        }
    }
    return found;
}

Result<KernelTypes::Prototype> KernelTypes::prototype_of(const std::string& function) {
    const std::vector<KernelFunction> found =
        is_one_name(function) ? functions(function) : std::vector<KernelFunction>();
    if (found.empty()) {
        return no_function(function);
    }
    for (const KernelFunction& each : found) {
        if (each.prototype != found.front().prototype) {
            return Error(ErrorCode::kUnsupported,
                         fmt::format("the kernel has different functions '{}': {} and {}",
                                     function,
                                     found.front().prototype,
                                     each.prototype));
        }
    }
    const auto& [part, id] = functions_.find(function)->second;
    const btf& types = *parts_[part].types;
    return Prototype{types, btf__type_by_id(&types, id)->type};
}

Error KernelTypes::no_function(const std::string& function) const {
    const std::string shown = base::make_harmless(function.substr(0, kPatternBytesMax));
    FunctionLists lists;
    lists.symbols = base::read_file(files_.symbols, kSymbolsBytesMax).value_or("");
    if (KernelFunctions(lists).has(function)) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("the kernel has a function '{}', but does not tell the types of "
                                 "its arguments",
                                 shown));
    }
    std::vector<std::string_view> names;
    for (const auto& [name, place] : functions_) {
        names.push_back(name);
    }
    std::string message =
        fmt::format("the kernel has no function '{}'{}", shown, perhaps(function, names));
    if (!problems_.empty()) {
        message += fmt::format(" (not all modules were asked: {})", problems_.front());
    }
    return {ErrorCode::kNotFound, std::move(message)};
}

Result<NamedValues> KernelTypes::arguments(const std::string& function) {
    TRY(const Prototype prototype, prototype_of(function));
    return KernelSignature::of_function(prototype.types, prototype.id, machine_).arguments();
}

Result<ProbeValue> KernelTypes::value(const std::string& function, std::string_view path) {
    TRY(const Prototype prototype, prototype_of(function));
    return KernelSignature::of_function(prototype.types, prototype.id, machine_)
        .argument(path, function);
}

Result<std::optional<ProbeValue>> KernelTypes::result(const std::string& function) {
    TRY(const Prototype prototype, prototype_of(function));
    const btf_type* type = btf__type_by_id(&prototype.types, prototype.id);
    if (type == nullptr || plain_type(prototype.types, type->type).type == nullptr) {
        return std::optional<ProbeValue>();
    }
    TRY(ProbeValue value, result_value(function, ""));
    return std::optional(std::move(value));
}

Result<ProbeValue> KernelTypes::result_value(const std::string& function, std::string_view path) {
    TRY(const Prototype prototype, prototype_of(function));
    const btf_type* type = btf__type_by_id(&prototype.types, prototype.id);
    if (type == nullptr || plain_type(prototype.types, type->type).type == nullptr) {
        return Error(ErrorCode::kNotFound, fmt::format("{} returns nothing", function));
    }
    ProbeValue start;
    start.start = ValueStart::kResult;
    MemberPath member(prototype.types, start, type->type, "result");
    if (!path.empty()) {
        TRY(const std::vector<std::string> parts, split_member_path(path));
        for (const std::string& part : parts) {
            TRY(member.step(part));
        }
    }
    return member.value();
}

std::vector<std::string> KernelTypes::raw_tracepoints(const std::string& pattern) {
    read_modules();
    std::vector<std::string> found;
    for (const auto& [type, place] : tracepoints_) {
        std::string name(type.substr(kTracepointPrefix.size()));
        if (matches_pattern(name, pattern) && (found.empty() || found.back() != name)) {
            found.push_back(std::move(name));
        }
    }
    return found;
}

Result<KernelSignature> KernelTypes::raw_tracepoint(const std::string& name) {
    const std::string type_name = tracepoint_as_a_type(name);
    if (tracepoints_.find(type_name) == tracepoints_.end()) {
        read_modules();
    }
    const auto found = tracepoints_.find(type_name);
    if (found == tracepoints_.end()) {
        const std::vector<std::string> all = raw_tracepoints("*");
        return Error(ErrorCode::kNotFound,
                     fmt::format("the kernel has no tracepoint '{}'{}",
                                 base::make_harmless(name.substr(0, kPatternBytesMax)),
                                 perhaps(name, {all.begin(), all.end()})));
    }
    const btf& types = *parts_[found->second.part].types;
    const PlainType pointer = plain_type(types, found->second.id);
    const std::uint32_t prototype =
        pointer.is_kind(BTF_KIND_PTR) ? plain_type(types, pointer.type->type).id : 0;
    // The type has no names of its parameters; the function that calls the tracepoint's programs has.
    std::uint32_t names = 0;
    for (const char* caller : {"__traceiter_", "__probestub_"}) {
        const std::string function = caller + name;
        const auto [first, last] = functions_.equal_range(function);
        for (auto each = first; each != last; ++each) {
            if (each->second.part == found->second.part && names == 0) {
                names = btf__type_by_id(&types, each->second.id)->type;
            }
        }
    }
    return KernelSignature::of_raw_tracepoint(types, prototype, names);
}

Result<NamedValues> KernelTypes::raw_tracepoint_arguments(const std::string& name) {
    TRY(const KernelSignature signature, raw_tracepoint(name));
    return signature.arguments();
}

Result<ProbeValue> KernelTypes::raw_tracepoint_value(const std::string& name,
                                                     std::string_view path) {
    TRY(const KernelSignature signature, raw_tracepoint(name));
    return signature.argument(path, name);
}

Result<ProbeValue> KernelTypes::task_value(std::string_view path) {
    // that tracepoint gets a task, and every kernel has it
    TRY(ProbeValue value, raw_tracepoint_value("sched_process_exit", "p." + std::string(path)));
    value.start = ValueStart::kTask;
    value.number = 0;
    return value;
}

}  // namespace dyetrace::probes
