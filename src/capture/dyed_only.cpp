#include "capture/dyed_only.h"

namespace dyetrace::capture {
namespace {

// Calls look(record) for each.
template <typename Look>
void for_each_record(std::span<const std::byte> records, Look&& look) {
    while (!records.empty()) {
        const schema::RecordBytes record = schema::first_record(records);
        if (record.empty()) {
            return;
        }
        look(record);
        records = records.subspan(record.size());
    }
}

// The others belong to the one in front of them.
bool begins_group(schema::RecordBytes record) {
    const schema::RecordId type = schema::header_of(record).type;
    return type == schema::RecordId::kSyscallEvent || type == schema::RecordId::kSignalEvent ||
           type == schema::RecordId::kLogEvent;
}

}  // namespace

void DyedOnly::hold(std::uint32_t cpu, std::span<const std::byte> events) {
    if (cpu >= cpus_.size()) {
        cpus_.resize(cpu + 1);
    }
    std::vector<std::byte>& held = cpus_[cpu].held;
    held.insert(held.end(), events.begin(), events.end());
}

std::span<const std::byte> DyedOnly::first_group(std::span<const std::byte> held,
                                                 std::uint64_t until_ns) const {
    const schema::RecordBytes first = schema::first_record(held);
    const auto* call = schema::as<schema::SyscallEvent>(first);
    if (first.empty() || (call != nullptr && call->start_ns + call->duration_ns > until_ns)) {
        return {};
    }
    std::size_t size = first.size();
    for (;;) {
        const schema::RecordBytes next = schema::first_record(held.subspan(size));
        if (next.empty() || begins_group(next)) {
            return held.first(size);
        }
        size += next.size();
    }
}

bool DyedOnly::is_dyed(std::uint32_t cpu, std::span<const std::byte> group) const {
    bool dyed = false;
    for_each_record(group, [&](schema::RecordBytes record) {
        const auto* call = schema::as<schema::SyscallEvent>(record);
        const auto look = call != nullptr ? schema::dyes_found_in(*call) : std::nullopt;
        dyed = dyed || kept_.contains({cpu, schema::header_of(record).sequence}) ||
               schema::as<schema::DyeHit>(record) != nullptr ||
               (look && look->hits + look->candidates_dropped > 0);
    });
    return dyed;
}

void DyedOnly::release_cpu(std::uint32_t cpu, std::uint64_t until_ns, const Sink& sink) {
    const std::span<const std::byte> held = cpus_[cpu].held;
    std::size_t done = 0;
    for (;;) {
        const auto group = first_group(held.subspan(done), until_ns);
        if (group.empty()) {
            break;
        }
        if (is_dyed(cpu, group)) {
            sink(cpu, group);
        } else {
            for_each_record(group, [&](schema::RecordBytes) { ++cpus_[cpu].left_out; });
        }
        done += group.size();
    }
    std::vector<std::byte>& left = cpus_[cpu].held;
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(done));
}

void DyedOnly::release(std::uint64_t until_ns, const Sink& sink) {
    for (std::uint32_t cpu = 0; cpu < cpus_.size(); ++cpu) {
        release_cpu(cpu, until_ns, sink);
    }
    // who is still held has ended after; who is not is gone
    std::erase_if(kept_, [&](const auto& kept) {
        const schema::RecordBytes first = schema::first_record(cpus_[kept.first].held);
        return first.empty() || kept.second < schema::header_of(first).sequence;
    });
}

}  // namespace dyetrace::capture
