// The arguments and the result of a program's function by name and type, from its debugging data (DWARF), and members of what they point to.
//
//   TRY(const FunctionTypes types, FunctionTypes::open("/usr/sbin/shop"));
//   TRY(FunctionSignature signature, types.signature(function));        request: struct request *, why: const char *
//   TRY(ProbeValue id, types.argument(function, "request.client.id"));
//
//        argument 0 ─► hop 8: the pointer `client` ─► hop 0: `id`, 4 bytes, signed
//
// Which register an argument is in follows from the machine's rules for C and C++ (System V's for x86-64, Arm's for arm64): numbers of
// floating point take none of those that are read, structures take none, one or two. Programs in Go, Rust and other languages have rules of
// their own, and so have copies of functions that a compiler changed (.isra, .constprop): there nothing is said rather than something wrong.
// Values hold where a function begins and where it returns.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "probes/debug_file.h"
#include "probes/elf_file.h"
#include "probes/named_values.h"
#include "probes/probe_value.h"
#include "probes/program_functions.h"

struct Dwarf;

namespace dyetrace::probes {

struct FunctionSignature {
    std::vector<NamedValue> arguments;
    std::optional<ProbeValue> result;    // none: it returns nothing, or it is refused
    std::vector<LeftOutValue> left_out;  // the result under the name "result"
};

class FunctionTypes {
  public:
    // kNotFound if neither the program nor its debug file has any.
    static Result<FunctionTypes> open(const std::string& path,
                                      const std::string& debug_folder = kDebugFolder);

    Result<FunctionSignature> signature(const ProgramFunction& function) const;

    // "request.client.id": the argument, then members.
    Result<ProbeValue> argument(const ProgramFunction& function, std::string_view path) const;

    // "client.id": members of what the result points to; empty: the result itself.
    Result<ProbeValue> result(const ProgramFunction& function, std::string_view path) const;

  private:
    struct Close {
        void operator()(Dwarf* dwarf) const;
    };

    FunctionTypes(ElfFile file, Dwarf* dwarf) : file_(std::move(file)), dwarf_(dwarf) {}

    ElfFile file_;  // whatever has the data
    std::unique_ptr<Dwarf, Close> dwarf_;
};

}  // namespace dyetrace::probes
