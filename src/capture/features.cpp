#include "capture/features.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "base/fd.h"
#include "capture/blind_spots.h"
#include "capture/capture.h"
#include "capture/kernel_support.h"
#include "capture/lockdown.h"
#include "capture/probe_support.h"
#include "schema/syscalls.h"

namespace dyetrace::capture {
namespace {

struct BtfDeleter {
    void operator()(btf* types) const { btf__free(types); }
};
using Btf = std::unique_ptr<btf, BtfDeleter>;

std::string error_text(int error_number) {
    return fmt::format("{} ({})", std::strerror(error_number), strerrorname_np(error_number));
}

std::string read_line(const char* path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

// 0, or errno of loading `return 0` as a program of this type.
int try_program(bpf_prog_type type, bpf_attach_type attach, std::uint32_t btf_id) {
    const std::array<bpf_insn, 2> instructions{
        {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0}, {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}}};
    LIBBPF_OPTS(
        bpf_prog_load_opts, options, .expected_attach_type = attach, .attach_btf_id = btf_id);
    const base::Fd program(
        bpf_prog_load(type, "probe", "GPL", instructions.data(), instructions.size(), &options));
    if (!program.valid()) {
        return errno;
    }
    if (type != BPF_PROG_TYPE_TRACING) {
        return 0;
    }
    const base::Fd link(bpf_raw_tracepoint_open(nullptr, program.get()));
    return link.valid() ? 0 : errno;
}

Feature probe_types(const Btf& types) {
    if (!types) {
        return {"kernel types",
                Availability::kNo,
                "no BTF at /sys/kernel/btf/vmlinux",
                "nothing can be recorded; a kernel built with CONFIG_DEBUG_INFO_BTF=y has it "
                "(Debian 11, Ubuntu 20.10, RHEL 8.2 and later)",
                true};
    }
    return {"kernel types", Availability::kYes, "BTF", "", true};
}

Feature probe_privileges(const KernelSupport& support) {
    std::ifstream status("/proc/self/status");
    std::string line;
    std::uint64_t effective = 0;
    while (std::getline(status, line)) {
        if (line.starts_with("CapEff:")) {
            effective = std::stoull(line.substr(7), nullptr, 16);
        }
    }
    std::vector<std::pair<int, std::string_view>> needed{{39, "CAP_BPF"}, {38, "CAP_PERFMON"}};
    std::string names = "cap_bpf,cap_perfmon";
    if (support.preempts_programs) {  // for a tracepoint by perf: its number, in tracefs
        needed.emplace_back(2, "CAP_DAC_READ_SEARCH");
        names += ",cap_dac_read_search";
        if (std::atoi(read_line("/proc/sys/kernel/perf_event_paranoid").c_str()) > 2) {  // Debian's
            needed.emplace_back(21, "CAP_SYS_ADMIN (or sysctl kernel.perf_event_paranoid=2)");
        }
    }
    std::string present, absent;
    for (const auto& [number, name] : needed) {
        ((effective >> number & 1u) != 0 ? present : absent).append(" ").append(name);
    }
    if (absent.empty()) {
        return {"privileges", Availability::kYes, present.substr(1) + " present", "", true};
    }
    return {"privileges",
            Availability::kNo,
            "missing:" + absent,
            fmt::format("run as root, or `setcap {}+ep` the program", names),
            true};
}

Feature probe_bpf(const Btf& types, const KernelSupport& support) {
    const int id =
        types ? btf__find_by_name_kind(types.get(), "btf_trace_sys_enter", BTF_KIND_TYPEDEF) : -1;
    if (id < 0) {
        return {"BPF",
                Availability::kNo,
                "no tracepoint sys_enter in the kernel's types",
                "nothing can be recorded",
                true};
    }
    const int error =
        try_program(BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, static_cast<std::uint32_t>(id));
    if (error != 0) {
        return {"BPF",
                Availability::kNo,
                "tp_btf refused: " + error_text(error),
                "nothing can be recorded; root or CAP_BPF and CAP_PERFMON are needed",
                true};
    }
    if (!support.loop) {
        return {"BPF",
                Availability::kPartly,
                "tp_btf, iterators; no bpf_loop (Linux 5.17)",
                "rings of 2 MiB per CPU at most; nothing of the bytes of calls",
                false};
    }
    return {"BPF", Availability::kYes, "tp_btf, bpf_loop, iterators", "", true};
}

Feature probe_programs() {
    const Result<Capture> capture = Capture::load(
        {.event_ring_bytes = kEventRingBytesMin, .fact_ring_bytes = kEventRingBytesMin});
    if (!capture.ok()) {
        return {
            "programs", Availability::kNo, capture.error().text(), "nothing can be recorded", true};
    }
    return {"programs", Availability::kYes, "the kernel's verifier accepts them", "", true};
}

Feature describe_calls() {
    std::size_t all = 0, decoded = 0, all32 = 0;
    for (const schema::SyscallInfo& call : schema::syscalls()) {
        all += call.abi == schema::kNativeAbi ? 1 : 0;
        decoded += call.abi == schema::kNativeAbi && call.decoded ? 1 : 0;
        all32 += call.abi == schema::kCompatAbi ? 1 : 0;
    }
    return {"system calls",
            Availability::kYes,
            fmt::format(
                "every one; {} by name, {} decoded; {} of 32-bit programs", all, decoded, all32),
            "",
            false};
}

Feature probe_function_probes(const Btf& types) {
    const int id = types ? btf__find_by_name_kind(types.get(), "vfs_read", BTF_KIND_FUNC) : -1;
    const int fentry =
        id < 0
            ? ENOENT
            : try_program(BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, static_cast<std::uint32_t>(id));
    const bool kprobes = access("/sys/bus/event_source/devices/kprobe/type", F_OK) == 0;
    if (fentry == 0) {
        return {"kernel functions",
                Availability::kYes,
                fmt::format("fentry{}", kprobes ? ", kprobes" : ""),
                "",
                false};
    }
    return {"kernel functions",
            kprobes ? Availability::kPartly : Availability::kNo,
            fmt::format("fentry refused: {}; kprobes {}",
                        error_text(fentry),
                        kprobes ? "yes" : "not in this kernel"),
            "no probes on kernel functions; everything else is recorded through tracepoints",
            false};
}

Feature describe_probes() {
    const std::string lack = probes_lack();
    return {"probes",
            lack.empty() ? Availability::kYes : Availability::kNo,
            lack.empty() ? "functions of programs, tracepoints, samples" : lack,
            "",
            false};
}

Feature describe_content(const KernelSupport& support) {
    if (!support.loop) {
        return {"content",
                Availability::kNo,
                "no bpf_loop (Linux 5.17)",
                "no fingerprints, no dyes, no bytes; all else is recorded",
                false};
    }
    if (support.task_work) {
        return {
            "content", Availability::kYes, "what is not in memory is brought in first", "", false};
    }
    return {"content",
            Availability::kPartly,
            "without task work for programs (Linux 6.18)",
            "what is not in memory when a call ends is not looked at, and counted",
            false};
}

Feature describe_retransmissions(const KernelSupport& support) {
    const bool is_told = support.tcp_retransmit_skb;
    return {"retransmissions",
            is_told ? Availability::kYes : Availability::kNo,
            is_told ? "what TCP sends again, by tcp_retransmit_skb" : "no tcp_retransmit_skb",
            is_told ? "" : "what TCP sends again is not recorded",
            false};
}

Feature describe_lockdown() {
    const std::string mode = lockdown_mode();
    if (mode.empty()) {
        return {"lockdown",
                Availability::kYes,
                "not active: BPF programs may read the kernel's memory",
                "",
                false};
    }
    const bool strict = mode == kLockedDown;
    return {"lockdown",
            strict ? Availability::kNo : Availability::kYes,
            strict ? mode : mode + ": BPF programs may read the kernel's memory",
            strict ? std::string(kUnlock) : "",
            strict};
}

Feature describe(const BlindSpot& spot) {
    const bool off = spot.state == schema::CoverageState::kOff;
    return {std::string(spot.name),
            off ? Availability::kNo : Availability::kPartly,
            off ? "not recorded by this version" : "recorded in part",
            std::string(spot.reason),
            false};
}

}  // namespace

std::vector<Feature> probe_features() {
    libbpf_set_print(nullptr);
    const Btf types(btf__load_vmlinux_btf());
    const KernelSupport support = KernelSupport::find();
    std::vector<Feature> features{probe_privileges(support),
                                  describe_lockdown(),
                                  probe_types(types),
                                  probe_bpf(types, support)};
    if (features.back().availability != Availability::kNo) {
        features.push_back(probe_programs());
    }
    features.push_back(describe_calls());
    features.push_back(describe_content(support));
    features.push_back(describe_retransmissions(support));
    features.push_back(describe_probes());
    features.push_back(probe_function_probes(types));
    for (const BlindSpot& spot : blind_spots()) {
        features.push_back(describe(spot));
    }
    return features;
}

}  // namespace dyetrace::capture
