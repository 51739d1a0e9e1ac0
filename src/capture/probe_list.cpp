#include "capture/probe_list.h"

#include <fmt/format.h>

#include <utility>

#include "capture/probe_support.h"
#include "probes/elf_file.h"
#include "probes/function_types.h"
#include "probes/kernel_functions.h"
#include "probes/kernel_types.h"
#include "probes/probe_names.h"
#include "probes/program_functions.h"
#include "probes/program_path.h"
#include "probes/tracepoints.h"
#include "probes/usdt.h"

namespace dyetrace::capture {
namespace {

using probes::ProbeKind;

std::string name_of(ProbeKind kind, std::vector<std::string> arguments) {
    return probes::to_text({kind, std::move(arguments)});
}

void add_values(ListedProbe& probe, const probes::NamedValues& values) {
    for (const probes::NamedValue& value : values.values) {
        probe.values.push_back({"arguments." + value.name, value.value.type, ""});
    }
    for (const probes::LeftOutValue& left : values.left_out) {
        if (left.name.starts_with("common_")) {
            continue;  // of every tracepoint: who and where are columns of all probes
        }
        probe.values.push_back({"arguments." + left.name, "", left.reason});
    }
}

// Room for another one; else it is counted.
bool has_room(ProbeList& list) {
    if (list.probes.size() < kListedMax) {
        return true;
    }
    ++list.left_out;
    return false;
}

void add_tracepoints(ProbeList& list, const std::string& glob) {
    const auto all = probes::Tracepoints::of_this_kernel();
    const auto names =
        all.ok() ? all.value().matching(glob) : Result<std::vector<std::string>>(all.error());
    if (!names.ok()) {
        list.refused.push_back("tracepoints: " + names.error().text());
        return;
    }
    for (const std::string& name : names.value()) {
        if (!has_room(list)) {
            continue;
        }
        const std::size_t colon = name.find(':');
        const std::string category = name.substr(0, colon), own = name.substr(colon + 1);
        ListedProbe probe{.name = name_of(ProbeKind::kTracepoint, {category, own})};
        if (const auto found = all.value().find(category, own); found.ok()) {
            add_values(probe, found.value().fields);
        } else {
            probe.lack = found.error().text();
        }
        list.probes.push_back(std::move(probe));
    }
}

void add_kernel_functions(ProbeList& list, const std::string& glob) {
    if (const std::string lack = kernel_functions_lack(); !lack.empty()) {
        list.refused.push_back("functions of the kernel: " + lack);
    }
    auto types = probes::KernelTypes::open({});
    if (!types.ok()) {
        list.refused.push_back("functions of the kernel: " + types.error().text());
        return;
    }
    const probes::KernelFunctions hooks(probes::function_lists_of_this_kernel());
    for (const probes::KernelFunction& function : types.value().functions(glob)) {
        if (!has_room(list)) {
            continue;
        }
        ListedProbe probe{.name = name_of(ProbeKind::kKernelFunction, {function.name})};
        if (const auto hook = hooks.hook_of(function.name); !hook.ok()) {
            probe.lack = hook.error().message();
        }
        if (const auto arguments = types.value().arguments(function.name); arguments.ok()) {
            add_values(probe, arguments.value());
        }
        if (const auto result = types.value().result(function.name);
            result.ok() && result.value()) {
            probe.values.push_back({"result", result.value()->type, ""});
        }
        list.probes.push_back(std::move(probe));
    }
}

void add_functions(ProbeList& list, const std::string& glob, const std::string& path) {
    const auto functions = probes::ProgramFunctions::open(path);
    const auto found = functions.ok()
                           ? functions.value().matching(glob)
                           : Result<std::vector<probes::ProgramFunction>>(functions.error());
    if (!found.ok()) {
        list.refused.push_back("functions: " + found.error().text());
        return;
    }
    const auto types = probes::FunctionTypes::open(path);
    for (const probes::ProgramFunction& function : found.value()) {
        if (!has_room(list)) {
            continue;
        }
        ListedProbe probe{.name = name_of(ProbeKind::kUserFunction, {path, function.shown})};
        const auto signature = types.ok() ? types.value().signature(function)
                                          : Result<probes::FunctionSignature>(types.error());
        if (signature.ok()) {
            add_values(probe, {signature.value().arguments, signature.value().left_out});
            if (const auto& result = signature.value().result) {
                probe.values.push_back({"result", result->type, ""});
            }
        }
        list.probes.push_back(std::move(probe));
    }
}

void add_marks(ProbeList& list, const std::string& glob, const std::string& path) {
    const auto program = probes::ElfFile::open(path);
    const auto marks = program.ok() ? probes::usdt_marks(program.value())
                                    : Result<std::vector<probes::UsdtMark>>(program.error());
    if (!marks.ok() || marks.value().empty()) {
        return;
    }
    const auto found = probes::matching_marks(program.value(), marks.value(), "*", glob);
    for (const probes::UsdtMark& mark :
         found.ok() ? found.value() : std::vector<probes::UsdtMark>()) {
        if (!has_room(list)) {
            continue;
        }
        ListedProbe probe{.name = name_of(ProbeKind::kUsdt, {path, mark.provider, mark.name})};
        add_values(probe, {mark.places.at(0).arguments, mark.places.at(0).left_out});
        list.probes.push_back(std::move(probe));
    }
}

}  // namespace

Result<ProbeList> list_probes(const std::string& glob, const std::string& program) {
    ProbeList list;
    if (program.empty()) {
        add_tracepoints(list, glob);
        add_kernel_functions(list, glob);
    } else {
        TRY(const std::string path, probes::program_path(program));
        add_marks(list, glob, path);
        add_functions(list, glob, path);
        if (!list.probes.empty()) {
            list.refused.clear();  // that one of the two has no such name
        }
    }
    if (std::string lack = probes_lack(); !lack.empty()) {
        list.refused.push_back("all probes: " + std::move(lack));
    }
    return list;
}

}  // namespace dyetrace::capture
