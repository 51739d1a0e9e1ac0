#include "capture/probe_links.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>

#include "base/file.h"

namespace dyetrace::capture {
namespace {

constexpr std::uint32_t kUprobeMultiReturn = 1;
constexpr std::size_t kNumberBytesMax = 64;

// What linux/bpf.h has since 6.6.
struct UprobeMultiLink {
    std::uint32_t program, target, attach_type, flags;
    std::uint64_t path, offsets, semaphores, cookies;
    std::uint32_t count, multi_flags, pid, reserved;
};
static_assert(offsetof(UprobeMultiLink, path) == 16);

std::uint64_t address_of(const void* p) {
    return reinterpret_cast<std::uintptr_t>(p);
}

// A number that the kernel gives to a source of perf events, or a bit of how it is configured ("config:0").
Result<std::uint32_t> number_in(const std::string& path) {
    TRY(const std::string text, base::read_file(path, kNumberBytesMax));
    const std::size_t colon = text.find(':');
    const char* const begin = text.data() + (colon == std::string::npos ? 0 : colon + 1);
    std::uint32_t number = 0;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
    return error == std::errc() ? Result<std::uint32_t>(number)
                                : Error(ErrorCode::kCorrupt, path + " has no number");
}

Result<base::Fd> open_perf(perf_event_attr& attributes, int cpu, const std::string& what) {
    attributes.size = sizeof(attributes);
    base::Fd event(static_cast<int>(
        ::syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC)));
    return event.valid() ? Result<base::Fd>(std::move(event))
                         : Error::from_errno(errno, fmt::format("cannot watch {}", what));
}

// Before 5.15 a program cannot be told where it runs.
Result<void> run_program(ProbeLinks& links, base::Fd event, int program, std::uint64_t cookie) {
    LIBBPF_OPTS(bpf_link_create_opts, options);
    options.perf_event.bpf_cookie = cookie;
    base::Fd link(bpf_link_create(program, event.get(), BPF_PERF_EVENT, &options));
    if (!link.valid() && ::ioctl(event.get(), PERF_EVENT_IOC_SET_BPF, program) != 0) {
        return Error::from_errno(errno, "the kernel does not run the probe's program");
    }
    if (::ioctl(event.get(), PERF_EVENT_IOC_ENABLE, 0) != 0) {
        return Error::from_errno(errno, "the probe cannot be switched on");
    }
    if (link.valid()) {
        links.push_back(std::move(link));
    }
    links.push_back(std::move(event));
    return {};
}

// "kprobe" or "uprobe".
Result<base::Fd> open_function(const char* source, const ProbePlace& place, bool of_return) {
    const std::string folder = fmt::format("/sys/bus/event_source/devices/{}", source);
    const auto type = number_in(folder + "/type");
    if (!type.ok()) {
        return Error(ErrorCode::kUnsupported,
                     fmt::format("cannot watch {}: this kernel has no {}s", place.name, source));
    }
    perf_event_attr attributes{};
    attributes.type = type.value();
    if (of_return) {
        TRY(const std::uint32_t bit, number_in(folder + "/format/retprobe"));
        attributes.config |= std::uint64_t{1} << bit;
    }
    if (place.semaphore != 0) {
        TRY(const std::uint32_t bit, number_in(folder + "/format/ref_ctr_offset"));
        attributes.config |= place.semaphore << bit;
    }
    attributes.config1 = address_of(place.file.c_str());
    attributes.config2 = place.number;
    return open_perf(attributes, 0, place.name);
}

Result<void> attach_one(ProbeLinks& links,
                        const ProbePlace& place,
                        const ProbeProgramFds& programs,
                        std::uint64_t number) {
    perf_event_attr attributes{};
    switch (place.kind) {
        case PlaceKind::kTracepoint: {
            attributes.type = PERF_TYPE_TRACEPOINT;
            attributes.config = place.number;
            TRY(base::Fd event, open_perf(attributes, 0, place.name));
            return run_program(links, std::move(event), programs.fired, number);
        }
        case PlaceKind::kKernelFunction:
        case PlaceKind::kProgram: {
            const char* const source = place.kind == PlaceKind::kProgram ? "uprobe" : "kprobe";
            if (programs.entered >= 0) {
                TRY(base::Fd event, open_function(source, place, false));
                TRY(run_program(links, std::move(event), programs.entered, number));
            }
            TRY(base::Fd event, open_function(source, place, programs.entered >= 0));
            return run_program(links, std::move(event), programs.fired, number);
        }
        case PlaceKind::kTimer:
        case PlaceKind::kSample:
            break;
    }
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.freq = place.kind == PlaceKind::kSample;
    attributes.sample_period = place.number;
    const int cpus = place.kind == PlaceKind::kSample ? libbpf_num_possible_cpus() : 1;
    for (int cpu = 0; cpu < cpus; ++cpu) {
        auto event = open_perf(attributes, cpu, place.name);
        if (!event.ok() && event.error().code() == ErrorCode::kNotFound && cpu > 0) {
            continue;  // it is not there, or switched off
        }
        TRY(base::Fd opened, std::move(event));
        TRY(run_program(links, std::move(opened), programs.fired, number));
    }
    return {};
}

// Places of one file.
Result<void> attach_many(ProbeLinks& links,
                         const std::vector<ProbePlace>& places,
                         int program,
                         bool of_return,
                         std::uint64_t first) {
    std::vector<std::uint64_t> offsets, semaphores, cookies;
    for (std::size_t i = 0; i < places.size(); ++i) {
        offsets.push_back(places[i].number);
        semaphores.push_back(places[i].semaphore);
        cookies.push_back(first + i);
    }
    UprobeMultiLink link{};
    link.program = static_cast<std::uint32_t>(program);
    link.attach_type = kAttachMany;
    link.path = address_of(places[0].file.c_str());
    link.offsets = address_of(offsets.data());
    link.semaphores = address_of(semaphores.data());
    link.cookies = address_of(cookies.data());
    link.count = static_cast<std::uint32_t>(places.size());
    link.multi_flags = of_return ? kUprobeMultiReturn : 0;
    base::Fd made(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link))));
    if (!made.valid()) {
        return Error::from_errno(
            errno, fmt::format("cannot watch {} functions of {}", places.size(), places[0].file));
    }
    links.push_back(std::move(made));
    return {};
}

}  // namespace

Result<ProbeLinks> attach_probe(const std::vector<ProbePlace>& places,
                                const ProbeProgramFds& programs,
                                std::uint64_t first) {
    ProbeLinks links;
    if (programs.are_for_many) {
        if (programs.entered >= 0) {
            TRY(attach_many(links, places, programs.entered, false, first));
        }
        TRY(attach_many(links, places, programs.fired, programs.entered >= 0, first));
        return links;
    }
    for (std::size_t i = 0; i < places.size(); ++i) {
        TRY(attach_one(links, places[i], programs, first + i));
    }
    return links;
}

std::uint32_t program_type_of(PlaceKind kind) {
    switch (kind) {
        case PlaceKind::kTracepoint:
            return BPF_PROG_TYPE_TRACEPOINT;
        case PlaceKind::kKernelFunction:
        case PlaceKind::kProgram:
            return BPF_PROG_TYPE_KPROBE;
        default:
            return BPF_PROG_TYPE_PERF_EVENT;
    }
}

// Tried with what is no regular file: only a kernel that looks for it there says so.
bool can_attach_many() {
    const bpf_insn nothing[] = {{BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0},
                                {BPF_JMP | BPF_EXIT, 0, 0, 0, 0}};
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    options.expected_attach_type = static_cast<bpf_attach_type>(kAttachMany);
    const base::Fd program(
        bpf_prog_load(BPF_PROG_TYPE_KPROBE, "dyetrace_tried", "GPL", nothing, 2, &options));
    const std::uint64_t offset = 0;
    UprobeMultiLink link{};
    link.program = static_cast<std::uint32_t>(program.get());
    link.attach_type = kAttachMany;
    link.path = address_of("/");
    link.offsets = address_of(&offset);
    link.count = 1;
    const base::Fd made(static_cast<int>(::syscall(SYS_bpf, BPF_LINK_CREATE, &link, sizeof(link))));
    return program.valid() && !made.valid() && errno == EBADF;
}

}  // namespace dyetrace::capture
