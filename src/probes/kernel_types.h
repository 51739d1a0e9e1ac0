// The types of the kernel's functions and tracepoints, from BTF: which arguments there are, and how what they point to is read.
//
//   TRY(KernelTypes types, KernelTypes::open({}));
//   types.functions("vfs_re*")                               vfs_read, "ssize_t vfs_read(struct file *file, char *buf, ...)", ...
//   types.arguments("vfs_read")                              file, buf, count, pos
//   types.value("vfs_read", "file.f_inode.i_ino")            argument 0, hops {32, 64}; the spelling is member_path.h's
//   types.result_value("d_alloc_name", "d_inode.i_ino")      the same of what a function returns
//
// /sys/kernel/btf/vmlinux is read at once, /sys/kernel/btf/MODULE when a name is not there. One thread; opening reads 5 MB.
//
// Limits: a `char *` is text in the kernel's memory, unless the types say that it is the process's: those of kernels built by GCC never
// do. Two functions of one name with different arguments are refused. A signed enum is known from pahole 1.24 on.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/btf_types.h"
#include "probes/kernel_signature.h"
#include "probes/named_values.h"

namespace dyetrace::probes {

struct KernelTypesFiles {
    std::string kernel = "/sys/kernel/btf/vmlinux";  // raw BTF, or an ELF file that has it
    std::string modules = "/sys/kernel/btf";         // a file each; empty: there are none
    std::string symbols = "/proc/kallsyms";          // asked why a function has no types
};

struct KernelFunction {
    std::string name;
    std::string module;  // empty: the kernel itself
    std::string prototype;
};

class KernelTypes {
  public:
    static Result<KernelTypes> open(KernelTypesFiles files, Machine machine = kThisMachine);

    // Sorted by name. A pattern without * ? [ is a name, and the modules are read if the kernel has it not.
    std::vector<KernelFunction> functions(const std::string& pattern);
    Result<NamedValues> arguments(const std::string& function);
    Result<ProbeValue> value(const std::string& function, std::string_view path);
    // None: it returns nothing.
    Result<std::optional<ProbeValue>> result(const std::string& function);
    Result<ProbeValue> result_value(const std::string& function, std::string_view path);

    // "group_leader.start_boottime" of the task that runs.
    Result<ProbeValue> task_value(std::string_view path);

    // Those that the kernel and its modules have; a tracepoint's arguments are as its raw programs get them, before they become a record.
    std::vector<std::string> raw_tracepoints(const std::string& pattern);
    Result<NamedValues> raw_tracepoint_arguments(const std::string& name);
    Result<ProbeValue> raw_tracepoint_value(const std::string& name, std::string_view path);

    // Modules whose types could not be read, with the reason.
    const std::vector<std::string>& problems() const { return problems_; }

  private:
    struct Named {
        std::size_t part = 0;  // of parts_
        std::uint32_t id = 0;  // of the FUNC, or the tracepoint's TYPEDEF
    };
    struct Part {
        std::string module;
        BtfOwner types;
    };
    struct Prototype {
        const btf& types;
        std::uint32_t id;
    };
    using Names = std::multimap<std::string_view, Named>;

    KernelTypes(KernelTypesFiles files, Machine machine)
        : files_(std::move(files)), machine_(machine) {}
    void add_part(std::string module, BtfOwner types);
    void read_modules();
    Result<Prototype> prototype_of(const std::string& function);
    Error no_function(const std::string& function) const;
    Result<KernelSignature> raw_tracepoint(const std::string& name);

    KernelTypesFiles files_;
    Machine machine_;
    bool has_modules_ = false;
    std::vector<Part> parts_;  // the kernel, then modules
    Names functions_, tracepoints_;
    std::vector<std::string> problems_;
};

}  // namespace dyetrace::probes
