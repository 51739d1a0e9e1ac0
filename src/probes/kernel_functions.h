// Which functions of the kernel can be watched, from the lists that it keeps.
//
//   available_filter_functions (tracefs)     vfs_read                          the tracer's call stands at its begin: every way of watching
//   /proc/kallsyms                           ffffffff81234560 t vfs_read       a place in the code: by a breakpoint only
//   kprobes/blacklist (debugfs)              0xffff...-0xffff...  do_int3      forbidden
//
// hook_of("vfs_raed")      the kernel has no function 'vfs_raed', did you mean 'vfs_read'?
// hook_of("vfs_read")      the compiler made 'vfs_read.isra.0' of it, whose arguments are others (where that is so)
//
// Limits: whether the kernel lets programs attach at all is not asked here. A function that the compiler put into its callers
// altogether is in no list: it is not told from one that never was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"

namespace dyetrace::probes {

// 220,000 symbols, as a distribution's kernel has with its modules, are 10 MB.
constexpr std::size_t kSymbolsBytesMax = 256 << 20;

// Texts of the kernel's files, empty where they cannot be read.
struct FunctionLists {
    std::string available, blacklist, symbols;
};
// Reads those of this machine; tracefs and debugfs are root's.
FunctionLists function_lists_of_this_kernel();

enum class FunctionHook : std::uint8_t {
    kTracer,      // fentry and kprobe.multi can be there, and kprobes
    kBreakpoint,  // kprobes only
    kUnknown,     // the tracer's list could not be read
};

class KernelFunctions {
  public:
    explicit KernelFunctions(const FunctionLists& lists);

    bool has(const std::string& name) const { return functions_.contains(name); }
    // Sorted; not those that are forbidden.
    std::vector<std::string> matching(const std::string& pattern) const;
    Result<FunctionHook> hook_of(const std::string& name) const;

  private:
    struct Function {
        bool has_tracer = false;
        bool is_forbidden = false;
    };

    bool knows_tracer_ = false;
    std::unordered_map<std::string, Function> functions_;
};

}  // namespace dyetrace::probes
