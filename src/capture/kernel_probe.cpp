#include "capture/kernel_probe.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <string>
#include <utility>

#include "capture/grace_period.h"
#include "capture/group_table.h"

namespace dyetrace::capture {
namespace {

constexpr std::size_t kVerifierWordsMax = 1u << 20;

Result<base::Fd> make_map(bpf_map_type type,
                          const char* name,
                          std::uint32_t key_bytes,
                          std::uint32_t value_bytes,
                          std::uint32_t entries,
                          std::uint32_t flags = 0,
                          int inner = -1) {
    LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = flags);
    if (inner >= 0) {
        options.inner_map_fd = static_cast<std::uint32_t>(inner);
    }
    base::Fd map(bpf_map_create(type, name, key_bytes, value_bytes, entries, &options));
    return map.valid() ? Result<base::Fd>(std::move(map))
                       : Error::from_errno(errno, fmt::format("the kernel gives no {}", name));
}

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

KernelProbe::KernelProbe(Probe probe, const filter::Grouping& grouping)
    : probe_(std::move(probe)), grouping_(grouping) {
    grouping_.aggregates.push_back({});  // counts rows
    passed_ =
        std::make_unique<Passed>(Passed{filter::GroupTable(grouping_, {}), probe_.layout.bytes()});
}
KernelProbe::KernelProbe(KernelProbe&&) noexcept = default;
KernelProbe& KernelProbe::operator=(KernelProbe&&) noexcept = default;
KernelProbe::~KernelProbe() = default;

void KernelProbe::CloseRing::operator()(ring_buffer* ring) const {
    ring_buffer__free(ring);
}

Result<KernelProbe> KernelProbe::load(Probe probe,
                                      const filter::Grouping& grouping,
                                      const WatchedTasks& watched) {
    KernelProbe made(std::move(probe), grouping);
    auto format = filter::BpfGrouping::of_rows(made.grouping_);
    if (format.ok()) {
        made.format_ = std::move(format).value();
    } else {
        made.refused_ = format.error().message();
    }
    TRY(made.make_maps(watched));
    for (const ProbeVariant& variant : made.probe_.variants) {
        TRY(made.load_programs(variant, false));
    }
    if (made.is_joined_with_itself()) {
        return made;  // its program does both
    }
    for (const ProbeVariant& variant : made.probe_.before) {
        TRY(made.load_programs(variant, true));
    }
    return made;
}

Result<void> KernelProbe::make_maps(const WatchedTasks& watched) {
    const auto key_bytes = static_cast<std::uint32_t>(format_.key_bytes());
    const auto value_bytes =
        static_cast<std::uint32_t>(std::max(format_.value_bytes(), filter::kWord));
    has_one_group_ = key_bytes == filter::kWord;  // no more than which of no keys are NULL
    for (base::Fd& table : tables_) {
        TRY(table,
            has_one_group_ ? make_map(BPF_MAP_TYPE_PERCPU_ARRAY, "probe_group", 4, value_bytes, 1)
                           : make_map(BPF_MAP_TYPE_PERCPU_HASH,
                                      "probe_groups",
                                      key_bytes,
                                      value_bytes,
                                      kGroupsMax,
                                      BPF_F_NO_PREALLOC));
    }
    TRY(current_,
        make_map(BPF_MAP_TYPE_ARRAY_OF_MAPS, "probe_table", 4, 4, 1, 0, tables_[0].get()));
    TRY(blank_, make_map(BPF_MAP_TYPE_ARRAY, "probe_blank", 4, value_bytes, 1));
    TRY(counters_,
        make_map(BPF_MAP_TYPE_ARRAY,
                 "probe_counters",
                 4,
                 8,
                 static_cast<std::uint32_t>(ProbeCounter::kCount)));
    TRY(rows_, make_map(BPF_MAP_TYPE_RINGBUF, "probe_rows", 0, 0, kRowRingBytes));
    const std::vector<ProbeColumn>& columns = probe_.variants.at(0).columns;
    if (needs_return(columns)) {
        TRY(calls_,
            make_map(BPF_MAP_TYPE_HASH,
                     "probe_calls",
                     kCallKeyBytes,
                     static_cast<std::uint32_t>(8 + probe_.layout.bytes()),
                     kCallsMax,
                     BPF_F_NO_PREALLOC));
    }
    if (!probe_.before.empty()) {
        TRY(earlier_,
            make_map(BPF_MAP_TYPE_LRU_HASH,
                     "probe_earlier",
                     static_cast<std::uint32_t>(8 * probe_.join.own.size()),
                     static_cast<std::uint32_t>(probe_.layout.bytes()),
                     kEarlierMax));
    }
    bool has_stacks = false;
    for (std::size_t i = 0; i < probe_.row.size(); ++i) {
        const RowSource source = probe_.source_of(i);
        has_stacks =
            has_stacks || source == RowSource::kKernelStack || source == RowSource::kUserStack;
    }
    if (has_stacks) {
        TRY(stacks_,
            make_map(BPF_MAP_TYPE_STACK_TRACE, "probe_stacks", 4, 8 * kStackFramesMax, kStacksMax));
        stack_texts_ = std::make_unique<StackTexts>(stacks_.get());
    }
    const std::uint32_t first = 0;
    const int table = tables_[0].get();
    if (bpf_map_update_elem(current_.get(), &first, &table, BPF_ANY) != 0) {
        return Error::from_errno(errno, "the kernel takes no table of groups");
    }
    const bool is_preemptible = probe_.variants.at(0).places.at(0).kind == PlaceKind::kProgram;
    maps_ = {.calls = calls_.get(),
             .earlier = earlier_.get(),
             .counters = counters_.get(),
             .rows = rows_.get(),
             .stacks = stacks_.get(),
             .watched = watched,
             .groups = {.tables_map_fd = current_.get(),
                        .blank_map_fd = blank_.get(),
                        .is_preemptible = is_preemptible,
                        .counted_index = std::nullopt}};
    const auto each_row = [](void* passed, void* row, std::size_t bytes) {
        auto& to = *static_cast<Passed*>(passed);
        if (bytes >= to.row_bytes) {
            to.table.add_row({static_cast<const std::byte*>(row), to.row_bytes});
        }
        return 0;
    };
    ring_.reset(ring_buffer__new(rows_.get(), each_row, passed_.get(), nullptr));
    return ring_ ? Result<void>() : Error::from_errno(errno, "the probe's ring cannot be read");
}

bool KernelProbe::is_joined_with_itself() const {
    return probe_.variants.size() == 1 && probe_.before.size() == 1 &&
           probe_.variants[0].places == probe_.before[0].places &&
           !needs_return(probe_.variants[0].columns);
}

Result<void> KernelProbe::load_programs(const ProbeVariant& variant, bool is_before) {
    const ProgramRequest request{
        variant.columns,
        probe_.layout,
        probe_.join,
        maps_,
        !is_before && is_joined_with_itself() ? &probe_.before.at(0).columns : nullptr};
    ProbePrograms programs;
    if (is_before) {
        TRY(programs.fired, write_earlier_program(request));
    } else {
        TRY(programs, write_probe_programs(request, refused_.empty() ? &format_ : nullptr));
    }
    const PlaceKind kind = variant.places.at(0).kind;
    Loaded loaded;
    loaded.are_for_many =
        variant.places.size() > 1 && kind == PlaceKind::kProgram && can_attach_many();
    TRY(loaded.fired, load_program(programs.fired, kind, loaded.are_for_many));
    if (!programs.entered.empty()) {
        TRY(loaded.entered, load_program(programs.entered, kind, loaded.are_for_many));
    }
    loaded_.push_back(std::move(loaded));
    for (const ProbePlace& place : variant.places) {
        names_.push_back(place.name);
    }
    return {};
}

Result<base::Fd> KernelProbe::load_program(const std::vector<bpf_insn>& code,
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

Result<void> KernelProbe::attach() {
    std::uint64_t first = 0;
    for (std::size_t i = 0; i < loaded_.size(); ++i) {
        const Loaded& loaded = loaded_[i];
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

void KernelProbe::drain() {
    if (stack_texts_) {
        stack_texts_->look();
    }
    ring_buffer__consume(ring_.get());
}

Result<void> KernelProbe::take(filter::GroupTable& into) {
    const std::uint32_t first = 0;
    const base::Fd& full = tables_[counting_];
    counting_ = 1 - counting_;
    const int next = tables_[counting_].get();
    if (bpf_map_update_elem(current_.get(), &first, &next, BPF_ANY) != 0) {
        return Error::from_errno(errno, "cannot change the kernel's table of groups");
    }
    wait_for_running_programs();
    drain();
    if (refused_.empty()) {
        TRY(read(full));
    }
    for (const auto& [key, partials] : passed_->table.groups()) {
        filter::GroupKey named = key;
        name_keys(named);
        into.merge(named, {partials.begin(), partials.end() - 1});
    }
    passed_->table.clear();
    return {};
}

// Into the table of what was handed out: keys get their names once for all.
Result<void> KernelProbe::read(const base::Fd& table) {
    const EachPartials merge = [this](const filter::GroupKey& group,
                                      const std::vector<filter::Partial>& partials) {
        if (const std::uint64_t rows = partials.back().count; rows > 0) {
            counted_in_kernel_ += rows;
            passed_->table.merge(group, partials);
        }
    };
    if (!has_one_group_) {
        return take_groups(table, format_, merge);
    }
    const std::vector<std::byte> first(filter::kWord);
    TRY(read_group(table, format_, first, merge));
    const std::vector<std::byte> zeros(format_.value_bytes() *
                                       static_cast<std::size_t>(libbpf_num_possible_cpus()));
    return bpf_map_update_elem(table.get(), first.data(), zeros.data(), BPF_ANY) == 0
               ? Result<void>()
               : Error::from_errno(errno, "cannot empty a group in the kernel");
}

void KernelProbe::name_keys(filter::GroupKey& key) {
    for (std::size_t i = 0; i < key.size(); ++i) {
        const filter::Expression& e = grouping_.keys[i];
        const auto* const number = std::get_if<filter::Integer>(&key[i]);
        if (e.op == filter::Operator::kField && e.field->is_stack && number != nullptr) {
            key[i] =
                name_of(probe_.source_of(e.field->number), static_cast<std::uint64_t>(*number));
        }
    }
}

filter::Constant KernelProbe::name_of(RowSource source, std::uint64_t number) {
    if (source == RowSource::kPlace) {
        return number < names_.size() ? filter::Constant(names_[number]) : filter::Constant();
    }
    const auto id = static_cast<std::uint32_t>(number);
    auto text = source == RowSource::kKernelStack
                    ? stack_texts_->of_kernel(id)
                    : stack_texts_->of_process(static_cast<pid_t>(number >> 32), id);
    return text ? filter::Constant(*std::move(text)) : filter::Constant();
}

std::uint64_t KernelProbe::left_out() const {
    std::uint64_t times = 0;
    for (const Loaded& loaded : loaded_) {
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

std::uint64_t KernelProbe::counted(ProbeCounter counter) const {
    const auto index = static_cast<std::uint32_t>(counter);
    std::uint64_t number = 0;
    return bpf_map_lookup_elem(counters_.get(), &index, &number) == 0 ? number : 0;
}

}  // namespace dyetrace::capture
