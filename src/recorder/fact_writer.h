// Facts that the recorder itself adds to a trace: what is watched, the clocks, the accounting, the losses.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/capture.h"
#include "recorder/dye_set.h"
#include "schema/record.h"

namespace dyetrace::recorder {

class FactWriter {
  public:
    using Append = std::function<Result<void>(std::span<const std::byte> record)>;
    explicit FactWriter(Append append) : append_(std::move(append)) {}

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
    // Of what crosses the border of two calls.
    Result<void> write_dye_hit(schema::DyeHit hit);
    Result<void> write_anchor(schema::Anchor anchor);

    Result<void> write_retransmission(schema::Retransmission sent);
    Result<void> write_shared_mapping(schema::SharedMapping mapping);
    Result<void> write_namespace_name(std::uint32_t inode, std::string_view name);

  private:
    template <typename Record>
    Result<void> write(Record& record);
    void attach(schema::Attachment kind, std::string_view text);

    Append append_;
    std::uint64_t sequence_ = 0;
    std::vector<std::byte> attachments_;
    std::vector<std::byte> bytes_;
};

}  // namespace dyetrace::recorder
