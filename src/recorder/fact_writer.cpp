#include "recorder/fact_writer.h"

#include "base/clock.h"

namespace dyetrace::recorder {

Result<void> FactWriter::write_coverage(const capture::Source& source) {
    writer_.attach(schema::Attachment::kPath, source.name);
    writer_.attach(schema::Attachment::kText, source.reason);
    schema::Coverage fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.state = static_cast<std::uint8_t>(source.state);
    return writer_.write(fact);
}

Result<void> FactWriter::write_clocks() {
    const base::ClockSnapshot snapshot = base::read_clock_snapshot();
    schema::ClockSnapshot fact{};
    fact.boot_ns = static_cast<std::uint64_t>(snapshot.boot_ns);
    fact.wall_ns = snapshot.wall_ns;
    fact.monotonic_ns = static_cast<std::uint64_t>(base::monotonic_time_ns());
    fact.error_ns = static_cast<std::uint64_t>(snapshot.uncertainty_ns);
    return writer_.write(fact);
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
    return writer_.write(fact);
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
    return writer_.write(fact);
}

Result<void> FactWriter::write_dye(const DyeSet::Entry& dye, bool removed) {
    writer_.attach(schema::Attachment::kName, dye.dye.name);
    schema::Dye fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.dye_id = dye.id;
    fact.forms = dye.dye.forms;
    fact.length = static_cast<std::uint32_t>(dye.dye.text.size());
    fact.removed = removed ? 1 : 0;
    return writer_.write(fact);
}

Result<void> FactWriter::write_dye_hit(schema::DyeHit hit) {
    return writer_.write(hit);
}

Result<void> FactWriter::write_anchor(schema::Anchor anchor) {
    return writer_.write(anchor);
}

Result<void> FactWriter::write_retransmission(schema::Retransmission sent) {
    return writer_.write(sent);
}

Result<void> FactWriter::write_shared_mapping(schema::SharedMapping mapping) {
    return writer_.write(mapping);
}

Result<void> FactWriter::write_namespace_name(std::uint32_t inode, std::string_view name) {
    writer_.attach(schema::Attachment::kText, name);
    schema::NamespaceName fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.network_namespace = inode;
    return writer_.write(fact);
}

Result<void> FactWriter::write_probed_place(std::uint32_t probe_id,
                                            std::string_view name,
                                            std::string_view probe) {
    writer_.attach(schema::Attachment::kName, name);
    writer_.attach(schema::Attachment::kText, probe);
    schema::ProbedPlace fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.probe_id = probe_id;
    return writer_.write(fact);
}

// Text that is not there has no attachment: NULL.
Result<void> FactWriter::write_stack(std::uint32_t stack_id,
                                     std::string_view kernel,
                                     std::string_view user) {
    if (!kernel.empty()) {
        writer_.attach(schema::Attachment::kKernelStack, kernel, kernel.size());
    }
    if (!user.empty()) {
        writer_.attach(schema::Attachment::kUserStack, user, user.size());
    }
    schema::Stack fact{};
    fact.time_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.stack_id = stack_id;
    return writer_.write(fact);
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
    return writer_.write(fact);
}

Result<void> FactWriter::write_command(const schema::TaskContext& announced,
                                       std::string_view words,
                                       bool is_cut) {
    for (const schema::Attachment kind : {schema::Attachment::kExe, schema::Attachment::kCgroup}) {
        if (const auto text = schema::attachment(announced, kind)) {
            writer_.attach(kind, *text);
        }
    }
    writer_.attach(schema::Attachment::kCommand, words);
    schema::TaskContext fact = announced;
    fact.valid_from_ns = static_cast<std::uint64_t>(base::boot_time_ns());
    fact.flags = is_cut ? schema::kCommandIsCut : 0;
    return writer_.write(fact);
}

}  // namespace dyetrace::recorder
