// Gives tests a recorded trace in a temporary folder, and questions whose answers read like tables.
//
//   StoreFixture trace;
//   trace.record(2, 500);                     two segments with 500 events each, then finished
//   EXPECT_EQ(trace.ask("SELECT 1, NULL"), "1 NULL\n");
#pragma once

#include <memory>
#include <string>

#include "base/file.h"
#include "base/temporary_folder.h"
#include "store/database.h"
#include "store/duckdb_engine.h"
#include "store/rows_state.h"
#include "store/seal.h"
#include "trace/segment_writer.h"
#include "trace/synthetic_records.h"

namespace dyetrace::store {

// Cells separated by a space, rows by a line break.
inline Result<void> read_rows(Rows& rows, std::string& answer) {
    for (;;) {
        TRY(const std::span<const Cell> row, rows.next());
        if (row.empty()) {
            return {};
        }
        for (const Cell& cell : row) {
            answer += (&cell == row.data() ? "" : " ") +
                      (cell.kind == CellKind::kNull ? "NULL" : std::string(cell.text));
        }
        answer += "\n";
    }
}

// The same; the Error's text if there is one.
inline std::string ask(Database& database, const std::string& sql) {
    std::string answer;
    const auto done = database.query(sql, [&](Rows& rows) { return read_rows(rows, answer); });
    return done.ok() ? answer : "error: " + done.error().text();
}

// What a DuckDB answers that knows nothing of us but views.sql, as its own command line started in the folder.
inline std::string ask_elsewhere(const std::string& trace_path, const std::string& sql) {
    const Engine engine = Engine::open({}).value();
    std::string script = base::read_file(trace_path + "/views.sql", 8u << 20).value();
    for (std::size_t at = 0; (at = script.find("read_parquet('", at)) != std::string::npos;) {
        at += 14;
        script.insert(at, trace_path + "/");
    }
    engine.run(script).value();
    auto state = std::make_unique<Rows::State>();
    duckdb_query(engine.connection(), sql.c_str(), state->result.out());
    Rows rows(std::move(state));
    std::string answer;
    const auto done = read_rows(rows, answer);
    return done.ok() ? answer : "error: " + done.error().text();
}

class StoreFixture {
  public:
    StoreFixture() {
        trace::TraceInfo info;
        info.program = "test";
        info.hosts.push_back({.index = 0,
                              .name = "web1",
                              .boot_id = "b",
                              .kernel = "6.1.0",
                              .machine = "x86_64",
                              .cpus = 2});
        folder_ =
            std::make_unique<trace::TraceFolder>(trace::TraceFolder::create(path(), info).value());
    }

    std::string path() const { return temporary_.path() + "/trace"; }
    trace::TraceFolder& folder() { return *folder_; }
    trace::SyntheticRecords& records() { return records_; }

    // Facts come with the first segment. Each segment but the last is complete; `finish` ends the last one too.
    void record(int segments, std::size_t events_each, bool finish = true) {
        if (writer_ == nullptr) {
            begin(events_each);
        }
        for (int i = 0; i < segments; ++i) {
            for (std::uint16_t cpu = 0; cpu < 2; ++cpu) {
                writer_->append(cpu, schema::Stream::kEvents, records_.events(cpu, events_each / 2))
                    .value();
            }
            writer_->flush().value();
        }
        if (finish) {
            writer_->close().value();
            folder_->finish().value();
        }
    }

    // What is left of a recorder that was killed.
    void kill_recorder() {
        writer_.reset();
        folder_.reset();
    }

    std::unique_ptr<Database> database() const {
        return Database::open(path(), {.threads = 2, .memory_limit = ""}).value();
    }
    std::string ask(const std::string& sql) const { return store::ask(*database(), sql); }

  private:
    void begin(std::size_t events_each) {
        trace::SegmentWriterOptions options;
        options.limits.records_max = events_each;
        writer_ = std::make_unique<trace::SegmentWriter>(
            trace::SegmentWriter::create(*folder_, 0, options).value());
        for (std::uint16_t cpu = 0; cpu < 2; ++cpu) {
            writer_->append(cpu, schema::Stream::kFacts, records_.facts(cpu)).value();
        }
    }

    base::TemporaryFolder temporary_ = base::TemporaryFolder::make().value();
    std::unique_ptr<trace::TraceFolder> folder_;
    std::unique_ptr<trace::SegmentWriter> writer_;
    trace::SyntheticRecords records_;
};

}  // namespace dyetrace::store
