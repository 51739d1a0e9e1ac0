// Gives tests a trace in a temporary folder, makes small segments in one call, and edits segments byte by byte.
//
//   SegmentFixture trace;
//   trace.write({{0, kFacts, bytes}, {1, kEvents, bytes}});    appended, flushed after each, closed
//   std::string bytes = trace.segment();                       of segment 1
//   trace.replace_segment(bytes.substr(0, 100));
//   ReadBack read = trace.read(SegmentEnd::kComplete);         records per CPU and stream, and what was lost
#pragma once

#include <fcntl.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "trace/record_walk.h"
#include "trace/segment_reader.h"
#include "trace/segment_writer.h"
#include "trace/synthetic_records.h"

namespace dyetrace::trace {

struct Drain {
    std::uint16_t cpu;
    schema::Stream stream;
    std::vector<std::byte> bytes;
};

struct ReadBack {
    std::map<std::pair<std::uint16_t, std::uint8_t>, std::vector<std::byte>>
        bytes;  // by CPU and stream
    std::uint64_t records = 0;
    std::vector<LostRange> lost;
};

inline TraceInfo info_of_one_host() {
    TraceInfo info;
    info.program = "test";
    info.hosts.push_back({.index = 0,
                          .name = "web1",
                          .boot_id = "b",
                          .kernel = "6.1.0",
                          .machine = "x86_64",
                          .cpus = 2});
    return info;
}

inline Result<ReadBack> read_back(const std::string& path, SegmentEnd end) {
    TRY(SegmentReader reader, SegmentReader::open(path, end));
    ReadBack back;
    for (const BlockHeader& block : reader.blocks()) {
        TRY(const std::span<const std::byte> records, reader.read(block));
        auto& bytes = back.bytes[{block.cpu, block.stream}];
        bytes.insert(bytes.end(), records.begin(), records.end());
        back.records += records.empty() ? 0 : block.record_count;
    }
    back.lost = reader.lost();
    return back;
}

class SegmentFixture {
  public:
    SegmentFixture() : folder_(TraceFolder::create(path(), info_of_one_host()).value()) {}

    std::string path() const { return temporary_.path() + "/trace"; }
    TraceFolder& folder() { return folder_; }
    std::string segment_path() const { return folder_.segment_path(1); }

    void write(const std::vector<Drain>& drains, SegmentWriterOptions options = {}) {
        auto writer = SegmentWriter::create(folder_, 0, std::move(options)).value();
        for (const Drain& drain : drains) {
            writer.append(drain.cpu, drain.stream, drain.bytes).value();
            writer.flush().value();
        }
        writer.close().value();
    }

    std::string segment() const { return base::read_file(segment_path(), 64u << 20).value(); }

    void replace_segment(const std::string& bytes) const {
        const base::Fd file = base::open_file(segment_path(), O_WRONLY | O_CREAT | O_TRUNC).value();
        base::write_all(file, base::bytes_of(bytes)).value();
    }

    Result<ReadBack> read(SegmentEnd end) const { return read_back(segment_path(), end); }

  private:
    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    TraceFolder folder_;
};

// Three blocks: facts of CPU 0, events of CPU 0, events of CPU 1.
inline std::vector<Drain> three_drains(std::size_t events = 20) {
    SyntheticRecords records;
    std::vector<Drain> drains;
    drains.push_back({0, schema::Stream::kFacts, records.facts(0)});
    drains.push_back({0, schema::Stream::kEvents, records.events(0, events)});
    drains.push_back({1, schema::Stream::kEvents, records.events(1, events)});
    return drains;
}

}  // namespace dyetrace::trace
