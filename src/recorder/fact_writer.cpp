#include "recorder/fact_writer.h"

#include <cstring>

#include "base/clock.h"
#include "schema/record_info.h"

namespace dyetrace::recorder {

void FactWriter::attach(schema::Attachment kind, std::string_view text, std::size_t bytes_max) {
    text = text.substr(0, bytes_max);
    const schema::AttachmentHeader header{
        static_cast<std::uint16_t>(kind), static_cast<std::uint16_t>(text.size()), 0};
    const std::size_t at = attachments_.size();
    attachments_.resize(at + sizeof(header) + ((text.size() + 7) & ~std::size_t{7}));
    std::memcpy(attachments_.data() + at, &header, sizeof(header));
    std::memcpy(attachments_.data() + at + sizeof(header), text.data(), text.size());
}

template <typename Record>
Result<void> FactWriter::write(Record& record) {
    const std::size_t size = sizeof(record) + attachments_.size();
    const bool may_be_skipped = !schema::find_record(Record::kId)->must_understand;
    record.header = {static_cast<std::uint32_t>(size),
                     Record::kId,
                     static_cast<std::uint16_t>(may_be_skipped ? 1 : 0),
                     sequence_++};
    bytes_.resize(size);
    std::memcpy(bytes_.data(), &record, sizeof(record));
    std::copy(attachments_.begin(), attachments_.end(), bytes_.begin() + sizeof(record));
    attachments_.clear();
    return append_(bytes_);
}

Result<void> FactWriter::write_coverage(const capture::Source& source) {
    attach(schema::Attachment::kPath, source.name);
    attach(schema::Attachment::kText, source.reason);
    schema::Coverage fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.state = static_cast<std::uint8_t>(source.state);
    fact.attachments = static_cast<std::uint16_t>(attachments_.size());
    return write(fact);
}

Result<void> FactWriter::write_clocks() {
    const base::ClockSnapshot snapshot = base::read_clock_snapshot();
    schema::ClockSnapshot fact{};
    fact.boot_ns = static_cast<std::uint64_t>(snapshot.boot_ns);
    fact.wall_ns = snapshot.wall_ns;
    fact.monotonic_ns = static_cast<std::uint64_t>(base::monotonic_time_ns());
    fact.error_ns = static_cast<std::uint64_t>(snapshot.uncertainty_ns);
    return write(fact);
}

Result<void> FactWriter::write_accounting(std::uint32_t cpu,
                                          const capture::Accounting& accounting) {
    schema::Accounting fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.generated = accounting.generated;
    fact.filtered = accounting.filtered;
    fact.aggregated = accounting.aggregated;
    fact.delivered = accounting.delivered;
    fact.lost = accounting.lost;
    fact.facts_lost = accounting.facts_lost;
    fact.cpu = cpu;
    return write(fact);
}

Result<void> FactWriter::write_gap(std::uint32_t cpu,
                                   std::uint64_t begin_ns,
                                   std::uint64_t end_ns,
                                   std::uint64_t lost,
                                   schema::GapReason reason) {
    schema::Gap fact{};
    fact.begin_ns = begin_ns;
    fact.end_ns = end_ns;
    fact.lost = lost;
    fact.cpu = cpu;
    fact.reason = static_cast<std::uint8_t>(reason);
    return write(fact);
}

Result<void> FactWriter::write_dye(const DyeSet::Entry& dye, bool removed) {
    attach(schema::Attachment::kName, dye.dye.name);
    schema::Dye fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.dye_id = dye.id;
    fact.forms = dye.dye.forms;
    fact.length = static_cast<std::uint32_t>(dye.dye.text.size());
    fact.removed = removed ? 1 : 0;
    fact.attachments = static_cast<std::uint16_t>(attachments_.size());
    return write(fact);
}

Result<void> FactWriter::write_dye_hit(schema::DyeHit hit) {
    return write(hit);
}

Result<void> FactWriter::write_anchor(schema::Anchor anchor) {
    return write(anchor);
}

Result<void> FactWriter::write_retransmission(schema::Retransmission sent) {
    return write(sent);
}

Result<void> FactWriter::write_shared_mapping(schema::SharedMapping mapping) {
    return write(mapping);
}

Result<void> FactWriter::write_namespace_name(std::uint32_t inode, std::string_view name) {
    attach(schema::Attachment::kText, name);
    schema::NamespaceName fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.network_namespace = inode;
    fact.attachments = static_cast<std::uint16_t>(attachments_.size());
    return write(fact);
}

Result<void> FactWriter::write_probed_place(std::uint32_t probe_id,
                                            std::string_view name,
                                            std::string_view probe) {
    attach(schema::Attachment::kName, name);
    attach(schema::Attachment::kText, probe);
    schema::ProbedPlace fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.probe_id = probe_id;
    fact.attachments = static_cast<std::uint16_t>(attachments_.size());
    return write(fact);
}

// Text that is not there has no attachment: NULL.
Result<void> FactWriter::write_stack(std::uint32_t stack_id,
                                     std::string_view kernel,
                                     std::string_view user) {
    if (!kernel.empty()) {
        attach(schema::Attachment::kKernelStack, kernel, kernel.size());
    }
    if (!user.empty()) {
        attach(schema::Attachment::kUserStack, user, user.size());
    }
    schema::Stack fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.stack_id = stack_id;
    fact.attachments = static_cast<std::uint16_t>(attachments_.size());
    return write(fact);
}

Result<void> FactWriter::write_thread(const ThreadFacts& thread) {
    schema::TaskContext fact{};
    fact.valid_from_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.thread_start_ns = thread.thread_start_ns;
    fact.process_start_ns = thread.process_start_ns;
    fact.context_id = thread.context_id;
    fact.pid = thread.pid;
    fact.tid = thread.tid;
    thread.comm.copy(reinterpret_cast<char*>(fact.comm), sizeof(fact.comm) - 1);
    return write(fact);
}

}  // namespace dyetrace::recorder
