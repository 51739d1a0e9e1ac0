// A set of system calls in strace's grammar (-e trace=…); only the verb `trace` speaks it.
//
//   openat,close        these calls            %file, %network, %desc, …   groups (older: file, network, …)
//   !futex,poll         all but these          /^sched_                    a regular expression (POSIX, extended)
//   all, none           what they say          ?newcall                    no error if this kernel's table has none
//   openat@64           of one abi: @64 (x86_64, arm64), @32               257   a number
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "schema/syscalls.h"

namespace dyetrace::strace {

class CallSet {
  public:
    static CallSet all();
    static CallSet none() { return {}; }
    // kInvalidArgument with the word that is not known.
    static base::Result<CallSet> parse(std::string_view list);

    bool has(schema::Abi abi, std::uint16_t number) const;

  private:
    static constexpr std::size_t kAbis = 5;        // schema::Abi
    static constexpr std::size_t kNumbers = 1024;  // numbers from here on belong to "all" only

    void add(const schema::SyscallInfo& call);
    base::Result<void> add_word(std::string_view word);

    std::array<std::bitset<kNumbers>, kAbis> members_;
    bool others_ = false;  // calls without a name
};

struct CallGroup {
    std::string_view name;
    bool (*has)(const schema::SyscallInfo& call);
};

// %clock %creds %desc %file %fstat %ipc %lstat %memory %network %net %process %pure %signal %stat %%stat %statfs
std::span<const CallGroup> call_groups();

}  // namespace dyetrace::strace
