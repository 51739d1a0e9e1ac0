#include "capture/loaded_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <numeric>
#include <utility>

#include "capture/bpf_map.h"
#include "capture/probe_support.h"

namespace dyetrace::capture {
namespace {

constexpr std::size_t kVerifierWordsMax = 1u << 20;

// The verifier's last words but the count of what it did.
std::string last_words(const std::string& log) {
    std::size_t end = log.find_last_not_of('\n');
    std::size_t begin = log.rfind('\n', end);
    if (begin != std::string::npos && log.compare(begin + 1, 9, "processed") == 0) {
        end = begin - 1;
        begin = log.rfind('\n', end);
    }
    return end == std::string::npos ? "" : log.substr(begin + 1, end - begin);
}

}  // namespace

LoadedProbe::~LoadedProbe() = default;

void LoadedProbe::CloseRing::operator()(ring_buffer* ring) const {
    ring_buffer__free(ring);
}

Result<std::unique_ptr<LoadedProbe>> LoadedProbe::load(Probe probe,
                                                       const WatchedTasks& watched,
                                                       const RowFate& fate,
                                                       EachRow each_row) {
    std::unique_ptr<LoadedProbe> made(new LoadedProbe(std::move(probe), std::move(each_row)));
    TRY(made->make_maps(watched, fate));
    for (const ProbeVariant& variant : made->probe_.variants) {
        TRY(made->load_programs(variant, false, fate));
    }
    if (!made->is_joined_with_itself()) {  // else its program does both
        for (const ProbeVariant& variant : made->probe_.before) {
            TRY(made->load_programs(variant, true, fate));
        }
    }
    return made;
}

Result<void> LoadedProbe::make_maps(const WatchedTasks& watched, const RowFate& fate) {
    const auto row_bytes = static_cast<std::uint32_t>(probe_.layout.bytes());
    TRY(counters_,
        make_map(BPF_MAP_TYPE_PERCPU_ARRAY,
                 "probe_counters",
                 4,
                 8,
                 static_cast<std::uint32_t>(ProbeCounter::kCount)));
    TRY(rows_, make_map(BPF_MAP_TYPE_RINGBUF, "probe_rows", 0, 0, kRowRingBytes));
    if (needs_return(probe_.variants.at(0).columns)) {
        TRY(calls_,
            make_map(BPF_MAP_TYPE_HASH,
                     "probe_calls",
                     kCallKeyBytes,
                     8 + row_bytes,
                     kCallsMax,
                     BPF_F_NO_PREALLOC));
    }
    if (!probe_.before.empty()) {
        TRY(earlier_,
            make_map(BPF_MAP_TYPE_LRU_HASH,
                     "probe_earlier",
                     static_cast<std::uint32_t>(8 * probe_.join.own.size()),
                     row_bytes,
                     kEarlierMax));
    }
    if (has_stacks()) {
        TRY(stacks_,
            make_map(BPF_MAP_TYPE_STACK_TRACE, "probe_stacks", 4, 8 * kStackFramesMax, kStacksMax));
        stack_texts_ = std::make_unique<StackTexts>(stacks_.get());
    }
    const bool is_preemptible = probe_.variants.at(0).places.at(0).kind == PlaceKind::kProgram;
    maps_ = {.calls = calls_.get(),
             .earlier = earlier_.get(),
             .counters = counters_.get(),
             .rows = rows_.get(),
             .stacks = stacks_.get(),
             .watched = watched,
             .groups = {.tables_map_fd = fate.tables_map_fd,
                        .blank_map_fd = fate.blank_map_fd,
                        .is_preemptible = is_preemptible,
                        .counted_index = std::nullopt}};
    return make_ring();
}

Result<void> LoadedProbe::make_ring() {
    const auto each_row = [](void* passed, void* row, std::size_t bytes) {
        const auto& probe = *static_cast<LoadedProbe*>(passed);
        if (const std::size_t row_bytes = probe.probe_.layout.bytes(); bytes >= row_bytes) {
            probe.each_row_({static_cast<const std::byte*>(row), row_bytes});
        }
        return 0;
    };
    ring_.reset(ring_buffer__new(rows_.get(), each_row, this, nullptr));
    return ring_ ? Result<void>() : Error::from_errno(errno, "the probe's ring cannot be read");
}

bool LoadedProbe::has_stacks() const {
    for (std::size_t i = 0; i < probe_.row.size(); ++i) {
        const RowSource source = probe_.source_of(i);
        if (source == RowSource::kKernelStack || source == RowSource::kUserStack) {
            return true;
        }
    }
    return false;
}

bool LoadedProbe::is_joined_with_itself() const {
    return probe_.variants.size() == 1 && probe_.before.size() == 1 &&
           probe_.variants[0].places == probe_.before[0].places &&
           !needs_return(probe_.variants[0].columns);
}

Result<void> LoadedProbe::load_programs(const ProbeVariant& variant,
                                        bool is_before,
                                        const RowFate& fate) {
    const ProgramRequest request{
        variant.columns,
        probe_.layout,
        probe_.join,
        maps_,
        !is_before && is_joined_with_itself() ? &probe_.before.at(0).columns : nullptr,
        fate.where};
    ProbePrograms programs;
    if (is_before) {
        TRY(programs.fired, write_earlier_program(request));
    } else {
        TRY(programs, write_probe_programs(request, fate.format));
    }
    const PlaceKind kind = variant.places.at(0).kind;
    Programs loaded;
    loaded.are_for_many =
        variant.places.size() > 1 && kind == PlaceKind::kProgram && can_attach_many();
    TRY(loaded.fired, load_program(programs.fired, kind, loaded.are_for_many));
    if (!programs.entered.empty()) {
        TRY(loaded.entered, load_program(programs.entered, kind, loaded.are_for_many));
    }
    programs_.push_back(std::move(loaded));
    for (const ProbePlace& place : variant.places) {
        places_.push_back(place.name);
    }
    return {};
}

Result<base::Fd> LoadedProbe::load_program(const std::vector<bpf_insn>& code,
                                           PlaceKind kind,
                                           bool for_many) const {
    LIBBPF_OPTS(bpf_prog_load_opts, options);
    if (for_many) {
        options.expected_attach_type = static_cast<bpf_attach_type>(kAttachMany);
    }
    const auto type = static_cast<bpf_prog_type>(program_type_of(kind));
    const auto load = [&] {
        return base::Fd(
            bpf_prog_load(type, "dyetrace_probe", "GPL", code.data(), code.size(), &options));
    };
    base::Fd program = load();
    if (program.valid()) {
        return program;
    }
    const int error = errno;
    if (std::string lack = probes_lack(); !lack.empty()) {
        return Error(ErrorCode::kUnsupported, std::move(lack));
    }
    std::string log(kVerifierWordsMax, '\0');
    options.log_buf = log.data();
    options.log_size = static_cast<std::uint32_t>(log.size());
    options.log_level = 1;
    program = load();  // it says why only where there is room for it
    log.resize(log.find('\0'));
    return Error(ErrorCode::kUnsupported,
                 fmt::format("the kernel refuses the probe's program: {}",
                             log.empty() ? std::string(strerror(error)) : last_words(log)));
}

Result<void> LoadedProbe::attach() {
    if (stack_texts_) {
        stack_texts_->read_kernel_names();
        stack_texts_->look();
    }
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < programs_.size(); ++i) {
        const Programs& loaded = programs_[i];
        const std::size_t own = probe_.variants.size();
        const std::vector<ProbePlace>& places =
            i < own ? probe_.variants[i].places : probe_.before[i - own].places;
        TRY(ProbeLinks links,
            attach_probe(places,
                         {.fired = loaded.fired.get(),
                          .entered = loaded.entered.get(),
                          .are_for_many = loaded.are_for_many},
                         first));
        std::move(links.begin(), links.end(), std::back_inserter(links_));
        first += places.size();
    }
    return {};
}

void LoadedProbe::drain() {
    if (stack_texts_) {
        stack_texts_->look();
    }
    ring_buffer__consume(ring_.get());
}

filter::Constant LoadedProbe::name_of(RowSource source, std::uint64_t number) {
    if (source == RowSource::kPlace) {
        return number < places_.size() ? filter::Constant(places_[number]) : filter::Constant();
    }
    const auto id = static_cast<std::uint32_t>(number);
    auto text = source == RowSource::kKernelStack
                    ? stack_texts_->of_kernel(id)
                    : stack_texts_->of_process(static_cast<pid_t>(number >> 32), id);
    return text ? filter::Constant(*std::move(text)) : filter::Constant();
}

std::uint64_t LoadedProbe::left_out() const {
    std::uint64_t times = 0;
    for (const Programs& loaded : programs_) {
        for (const int program : {loaded.fired.get(), loaded.entered.get()}) {
            bpf_prog_info info{};
            std::uint32_t size = sizeof(info);
            if (program >= 0 && bpf_obj_get_info_by_fd(program, &info, &size) == 0) {
                times += info.recursion_misses;
            }
        }
    }
    return times;
}

std::uint64_t LoadedProbe::counted(ProbeCounter counter) const {
    const auto index = static_cast<std::uint32_t>(counter);
    std::vector<std::uint64_t> of_cpus(static_cast<std::size_t>(libbpf_num_possible_cpus()));
    return bpf_map_lookup_elem(counters_.get(), &index, of_cpus.data()) == 0
               ? std::accumulate(of_cpus.begin(), of_cpus.end(), std::uint64_t{0})
               : 0;
}

}  // namespace dyetrace::capture
