#include "trace/thin_segment.h"

#include <unistd.h>

#include <algorithm>
#include <map>
#include <string>

#include "base/file.h"
#include "schema/record_builder.h"
#include "trace/record_walk.h"
#include "trace/segment_reader.h"
#include "trace/segment_writer.h"

namespace dyetrace::trace {
namespace {

// Facts only: no limit is in sight.
constexpr SegmentLimits kNoLimits{UINT64_MAX, UINT64_MAX, UINT64_MAX};

Result<SegmentWriter> writer_into(const std::string& path,
                                  TraceFolder& folder,
                                  std::uint64_t number,
                                  std::uint64_t complete_ns) {
    SegmentWriterOptions options;
    options.limits = kNoLimits;
    options.first_number = number;
    options.complete_ns = complete_ns;
    options.create_file = [path](const std::string&) { return create_append_file(path); };
    return SegmentWriter::create(folder, folder.host_index(), std::move(options));
}

void add_to_gap(const BlockHeader& block, std::span<const std::byte> records, schema::Gap& gap) {
    RecordSummary summary;
    RecordWalk walk(records);
    for (schema::RecordBytes record = walk.next(); !record.empty(); record = walk.next()) {
        summary.add(record);
    }
    gap.begin_ns = gap.lost == 0 ? block.begin_ns : std::min(gap.begin_ns, block.begin_ns);
    gap.end_ns = std::max(gap.end_ns, block.end_ns);
    gap.lost += summary.count - summary.followers;
}

Result<void> append_gap(SegmentWriter& writer, const schema::Gap& gap) {
    const std::uint32_t cpu = gap.cpu < kCpusMax ? gap.cpu : 0;
    return writer.append(cpu, schema::Stream::kFacts, schema::build(gap).bytes());
}

Result<std::uint64_t> write_thin(SegmentReader& segment,
                                 SegmentWriter& writer,
                                 schema::GapReason reason) {
    std::map<std::uint16_t, schema::Gap> gaps;  // by CPU
    const std::vector<BlockHeader> blocks = segment.blocks();
    for (const BlockHeader& block : blocks) {
        TRY(const auto records, segment.read(block));
        if (block.stream == static_cast<std::uint8_t>(schema::Stream::kFacts)) {
            TRY(writer.append(block.cpu, schema::Stream::kFacts, records));
        } else {
            add_to_gap(block, records, gaps[block.cpu]);
        }
    }
    std::uint64_t lost = 0;
    for (auto& [cpu, gap] : gaps) {
        gap.cpu = cpu;
        gap.reason = static_cast<std::uint8_t>(reason);
        lost += gap.lost;
        if (gap.lost > 0) {
            TRY(append_gap(writer, gap));
        }
    }
    for (const LostRange& damage : segment.lost()) {
        TRY(append_gap(writer, damage.gap));
    }
    TRY(writer.close());
    return lost;
}

}  // namespace

Result<std::uint64_t> thin_segment(TraceFolder& folder,
                                   std::uint64_t number,
                                   schema::GapReason reason) {
    const std::string path = folder.segment_path(number);
    const std::string thin = path + ".thin";
    ::unlink(thin.c_str());
    TRY(SegmentReader segment, SegmentReader::open(path, SegmentEnd::kComplete));
    TRY(SegmentWriter writer, writer_into(thin, folder, number, segment.complete_ns()));
    TRY(const std::uint64_t lost, write_thin(segment, writer, reason));
    TRY(base::rename_file(thin, path));
    return lost;
}

}  // namespace dyetrace::trace
