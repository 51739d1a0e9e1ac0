// What a function takes and gives, and where each of it stands when the function is entered.
//
//   ssize_t vfs_read(struct file *file, char *buf, size_t count, loff_t *pos)
//                    argument 0         1          2             3               number of the register, not of the parameter:
//   void f(struct pair pair, int a)     0 and 1 (left out)       a is 2          a structure of 9 to 16 bytes takes two
//
// Limits: only what registers hold can be read, 6 on x86-64 and 8 on arm64; what a caller put on the stack, structures and floating-point
// numbers are left out. A structure whose members are packed across their alignment takes no register on x86-64: it is taken for one that
// does; kernels hand none over.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/btf_types.h"
#include "probes/machine.h"
#include "probes/named_values.h"

namespace dyetrace::probes {

class KernelSignature {
  public:
    // The prototype is a FUNC_PROTO of `types`, which outlive this.
    static KernelSignature of_function(const btf& types, std::uint32_t prototype, Machine machine);
    // A tracepoint's: what its programs get, in 8 bytes each. The first parameter is the kernel's own. `names` is a prototype that has
    // the parameters' names, or 0.
    static KernelSignature of_raw_tracepoint(const btf& types,
                                             std::uint32_t prototype,
                                             std::uint32_t names);

    NamedValues arguments() const;
    // "file.f_inode.i_ino". `of` is what is said to have the arguments.
    Result<ProbeValue> argument(std::string_view path, const std::string& of) const;

  private:
    struct Parameter {
        std::string name;
        std::uint32_t type = 0;
        ProbeValue start;
        std::string reason;  // why it cannot be read, or empty
    };
    explicit KernelSignature(const btf& types) : types_(types) {}

    const btf& types_;
    std::vector<Parameter> parameters_;
};

}  // namespace dyetrace::probes
