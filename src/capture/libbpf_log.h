// What libbpf says while programs are loaded, cut down to what tells people why it failed.
//
//   libbpf: prog 'follow_poll': -- BEGIN PROG LOAD LOG --
//   0: R1=ctx() R10=fp0                                       ──►  BPF program 'follow_poll': R1 unbounded memory access,
//   R1 unbounded memory access, make sure to bounds check          make sure to bounds check
//   processed 118 insns (limit 1000000) …
//   -- END PROG LOAD LOG --
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

struct bpf_program;

namespace dyetrace::capture {

// A warning of libbpf's that holds the verifier's log: the program's name and the log's last lines. Empty if it holds none.
std::string verifier_refusal(std::string_view warning);

// libbpf's own log is for developers; the verifier's refusal, or else the last warning, says why a load failed. For the thread that asks.
class LibbpfLog {
  public:
    static void listen();
    // What is wrong with a load since listen() that failed with this errno.
    static base::Error error(int error_number);
    // What is wrong with a program that could not be attached to `name` for this errno.
    static base::Error attach_error(int error_number,
                                    const bpf_program* program,
                                    std::string_view name);
};

}  // namespace dyetrace::capture
