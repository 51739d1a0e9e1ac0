// Facts that the recorder itself adds to a trace: what is watched, the clocks, the accounting, the losses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/capture.h"
#include "recorder/dye_set.h"
#include "recorder/record_writer.h"
#include "schema/record.h"

namespace dyetrace::recorder {

// What is known of a thread that the kernel has not announced.
struct ThreadFacts {
    std::uint32_t context_id, pid, tid;
    std::uint64_t process_start_ns, thread_start_ns;  // CLOCK_BOOTTIME
    std::string comm;
};

class FactWriter {
  public:
    explicit FactWriter(RecordWriter::Append append) : writer_(std::move(append)) {}

    Result<void> write_coverage(const capture::Source& source);
    Result<void> write_clocks();
    Result<void> write_accounting(std::uint32_t cpu, const capture::Accounting& accounting);
    Result<void> write_gap(std::uint32_t cpu,
                           std::uint64_t begin_ns,
                           std::uint64_t end_ns,
                           std::uint64_t lost,
                           schema::GapReason reason);

    // Looked for from now on, or no longer.
    Result<void> write_dye(const DyeSet::Entry& dye, bool removed);
    // A dye that crosses the border of two calls.
    Result<void> write_dye_hit(schema::DyeHit hit);
    Result<void> write_anchor(schema::Anchor anchor);

    Result<void> write_retransmission(schema::Retransmission sent);
    Result<void> write_shared_mapping(schema::SharedMapping mapping);
    Result<void> write_namespace_name(std::uint32_t inode, std::string_view name);

    Result<void> write_probed_place(std::uint32_t probe_id,
                                    std::string_view name,
                                    std::string_view probe);
    Result<void> write_stack(std::uint32_t stack_id,
                             std::string_view kernel,
                             std::string_view user);
    Result<void> write_thread(const ThreadFacts& thread);
    // A process that the kernel has announced has these words now.
    Result<void> write_command(const schema::TaskContext& announced,
                               std::string_view words,
                               bool is_cut);

  private:
    RecordWriter writer_;
};

}  // namespace dyetrace::recorder
