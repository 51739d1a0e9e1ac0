// The kernel's types are some 130,000. libbpf looks each that the programs name up by going through all of them, sixty times, which was a fourth of the
// CPU time that a recording took to begin; so it is given a file that has these only.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/fd.h"
#include "base/result.h"
#include "base/temporary_folder.h"

struct btf;

namespace dyetrace::capture {

inline constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";

// A file (BTF), which is gone with its owner: the structures, unions and enums of `kernel` and its `modules` that `programs` have under the same name, whatever comes after
// "___" in theirs, with all that lies in them; pointers lead to nothing. `programs` may ask under which numbers the kernel has its structures, by an enum:
//
//   enum kernel_type_id { id_of_inode = 1 };      here, every value is    enum kernel_type_id { id_of_inode = 1421 };     what the kernel lacks is not in it
class NamedTypes {
  public:
    static Result<NamedTypes> of(const btf& kernel,
                                 std::span<const btf* const> modules,
                                 const btf& programs);
    std::string path() const;

  private:
    explicit NamedTypes(base::Fd memory) : memory_(std::move(memory)) {}

    base::Fd memory_;
    std::unique_ptr<base::TemporaryFolder>
        folder_;  // where the memory has no path: there is no /proc, or it is not for this process
};

}  // namespace dyetrace::capture
