// Any bytes as a Parquet file of a sealed trace, or as a made table that is kept: answers and warnings, or words of refusal.
//
// segment.json and flows.sum would tell that the file has changed and nobody would read it, so they are written anew. What reads Parquet is DuckDB, which
// no fuzzer guides from here: what is found is what crashes, hangs or eats memory in it, and what our statements make of odd rows.

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/check.h"
#include "base/file.h"
#include "store/store_fixture.h"
#include "trace/sealed_info.h"

namespace dyetrace::store {
namespace {

constexpr std::size_t kSegmentNumber = 1;

class SealedTrace {
  public:
    SealedTrace() {
        trace_.record(1, 20);
        Sealer::start(trace::TraceFolder::open(trace_.path()).value())
            .value()
            .seal_what_is_there()
            .value();
        info_ = trace::read_sealed_info(folder()).value();
        std::filesystem::create_directory(trace_.path() + "/derived");
    }

    void ask_with(const std::string& record, std::string_view bytes) {
        const std::string path = folder() + "/" + record + ".parquet";
        const std::string whole = base::read_file(path, 1 << 20).value();
        put(record, bytes);
        ask("SELECT count(*), count(path), sum(bytes), max(hash(events)) FROM events");
        ask("SELECT count(*), max(hash(processes)) FROM processes");
        put(record, whole);
    }

    void ask_with_flows(std::string_view bytes) {
        const std::string kept = trace_.path() + "/derived";
        base::write_file_atomically(kept + "/flows.parquet", bytes).value();
        const auto file = trace::describe_sealed_file(kept, "flows", 0).value();
        base::write_file_atomically(kept + "/flows.sum",
                                    fmt::format("{} {:016x}\n", file.bytes, file.checksum))
            .value();
        ask("SELECT count(*), max(hash(flows)) FROM flows");
        std::filesystem::remove(kept + "/flows.parquet");
    }

  private:
    std::string folder() { return trace_.folder().sealed_path(kSegmentNumber); }

    void put(const std::string& record, std::string_view bytes) {
        base::write_file_atomically(folder() + "/" + record + ".parquet", bytes).value();
        trace::SealedInfo info = info_;
        for (trace::SealedFile& file : info.files) {
            if (file.record == record) {
                file = trace::describe_sealed_file(folder(), record, file.rows).value();
            }
        }
        trace::write_sealed_info(folder(), info).value();
    }

    void ask(const std::string& statement) {
        const auto database =
            Database::open(trace_.path(), {.threads = 1, .memory_limit = "500MB"});
        if (database.ok()) {
            database.value()->register_table(
                {"flows", 1, [](Database&) -> Result<RowSource> {
                     return RowSource(
                         [](std::vector<std::uint64_t>&) -> Result<void> { return {}; });
                 }});
            CHECK(!store::ask(*database.value(), statement).empty());
        } else {
            CHECK(!database.error().text().empty());
        }
    }

    StoreFixture trace_;
    trace::SealedInfo info_;
};

}  // namespace
}  // namespace dyetrace::store

// The first byte says which file the others are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static dyetrace::store::SealedTrace trace;
    if (size == 0) {
        return 0;
    }
    const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
    switch (data[0]) {
        case 'f':
            trace.ask_with_flows(bytes);
            break;
        case 'h':
            trace.ask_with("handle", bytes);
            break;
        default:
            trace.ask_with("syscall_event", bytes);
    }
    return 0;
}
