// Makes a small finished trace of made-up records, for the test of the examples: make_trace TRACE
#include <cstdio>

#include "trace/segment_writer.h"
#include "trace/synthetic_records.h"

namespace dyetrace::trace {
namespace {

Result<void> make_trace(const std::string& path) {
    TRY(Host host, this_host());
    TraceInfo info;
    info.program = "make_trace";
    info.hosts.push_back(std::move(host));
    TRY(TraceFolder folder, TraceFolder::create(path, std::move(info)));
    TRY(SegmentWriter writer, SegmentWriter::create(folder, 0));
    SyntheticRecords records;
    for (std::uint16_t cpu = 0; cpu < 2; ++cpu) {
        TRY(writer.append(cpu, schema::Stream::kFacts, records.facts(cpu)));
        TRY(writer.append(cpu, schema::Stream::kEvents, records.events(cpu, 10'000)));
    }
    TRY(writer.close());
    return folder.finish();
}

}  // namespace
}  // namespace dyetrace::trace

int main(int argc, char** argv) {
    const auto made = argc == 2 ? dyetrace::trace::make_trace(argv[1])
                                : dyetrace::Error(dyetrace::ErrorCode::kInvalidArgument,
                                                  "usage: make_trace TRACE");
    if (!made.ok()) {
        std::fprintf(stderr, "make_trace: %s\n", made.error().text().c_str());
        return 1;
    }
    return 0;
}
