// A trace, finished or still being recorded, as a database: the public tables, in SQL.
//
//   sealed-000001/*.parquet ─┐
//   sealed-000002/*.parquet ─┼─► raw_<record> ─► schema::facts_sql(), event_selects(), tables_sql() ─► events, processes, …
//   segment-000003.seg      ─┘   (files are read, segments decoded, while a query runs)
//
//   TRY(std::unique_ptr<Database> database, Database::open("web1.trace", {}));
//   TRY(database->query("SELECT name, count(*) FROM events GROUP BY 1", [](Rows& rows) { return print(rows); }));
//
// open() looks once: events that come later are seen after refresh(). What it has seen never changes and each event is
// there once, whatever the sealer does meanwhile. Any number of processes may read, none is noticed by the recorder.
//
// Safe to hand to others, and for traces of others: extensions are not fetched, settings are locked, and SQL reads no files but those
// of the trace. ask() answers what people type: only what reads (reading_statement.h). query() is for statements of this program.
//
// Limits: one thread; one statement at a time. Results are streamed; what a query sorts or joins is in memory, and beyond the
// limit in a folder below $TMPDIR that goes with the database.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "store/events_seen.h"
#include "store/number_scan.h"
#include "store/rows.h"
#include "store/table_derivation.h"
#include "trace/trace_info.h"

namespace dyetrace::store {

constexpr std::uint64_t kLoadedBytesMax = 512 << 10;

struct DatabaseOptions {
    int threads = 0;  // 0: as many as CPUs
    std::string memory_limit =
        {};  // "2GB"; empty: 3 GB, or a quarter of the machine if that is less
    std::string temporary_limit =
        {};  // "8GB" on the disk beyond memory; empty: 90 % of what is free
    std::vector<std::string> files = {};  // to which write_parquet() will write
    // Whoever asks may do with SQL what this user may do with a shell: read and write files, make tables.
    bool is_trusting = false;
    // Parquet files are compared with their checksums when a trace is opened, up to so many bytes: less than 2 s when
    // they are in memory. Files beyond that are compared by their sizes only.
    std::uint64_t check_bytes_max = std::uint64_t{4} << 30;
    // A sealed trace whose files are no larger than this is read into memory, a table when it is first named: DuckDB opens
    // files, and plans twice, whenever a statement names a view of them.
    std::uint64_t loaded_bytes_max = kLoadedBytesMax;
};

// What is missing from a trace. Every answer about it should say so.
struct TraceLosses {
    std::uint64_t gaps = 0;
    std::uint64_t lost = 0;          // events, where their number is known
    std::uint64_t unknown_gaps = 0;  // gaps of which nobody knows how many events they cost
    bool recorder_died = false;
    bool disk_full = false;
    bool disk_failed = false;

    // "3 gaps: 120 events lost; how many more is not known (the recorder died)"; empty: nothing is missing.
    std::string text() const;
};

// What `time` of an event is.
enum class EventClock : std::uint8_t {
    kWall,     // of its host: as it was when the recording began, and straight on
    kRaw,      // the host's CLOCK_BOOTTIME, as if it had begun in 1970
    kCluster,  // of several hosts one clock, made of their messages; of one host the wall clock
};

// A function that SQL can call: a row's arguments as text (nullopt: NULL) to a value.
struct SqlFunction {
    std::string name;
    std::size_t arguments = 1;
    std::function<std::optional<std::string>(const std::vector<std::optional<std::string_view>>&)>
        call;
};

// A function of numbers (UBIGINT) that SQL can call, for millions of rows: it is given a chunk of them, a span per argument, and fills in
// an answer per row; NULL is schema::kDerivedNull. Several threads call it at once. The tables that it needs are made before it is called.
struct NumberFunction {
    std::string name;
    std::size_t arguments = 1;
    bool is_condition = false;       // answers are 0 or 1: SQL's BOOLEAN
    std::vector<std::string> needs;  // names of made tables
    std::function<Result<void>(std::span<const std::span<const std::uint64_t>> columns,
                               std::span<std::uint64_t> answers)>
        call;
};

class Database {
  public:
    static Result<std::unique_ptr<Database>> open(const std::string& path,
                                                  const DatabaseOptions& options);
    ~Database();

    const std::string& path() const;
    // kRecording: there will be more to see.
    trace::TraceState state() const;
    const TraceLosses& losses() const;
    // Files that cannot be read, a line for people each; what is in them is in `gaps`, with the reason damaged_file.
    const std::vector<std::string>& damages() const;

    // How often it has looked at the trace: what was computed of an earlier look may be out of date.
    std::uint64_t looks() const;

    // Looks again. Rows that were handed out before must be gone.
    Result<void> refresh();

    // Runs the statements of `sql` one after another and hands the rows of each to `each`; stops at the first Error.
    // Setting `*cancelled` (from a signal handler, another thread) makes it kInterrupted.
    Result<void> query(const std::string& sql,
                       const std::function<Result<void>(Rows&)>& each,
                       const std::atomic<bool>* cancelled = nullptr);

    // The same of statements that people typed: they read and do nothing else, unless the options say so.
    Result<void> ask(const std::string& sql,
                     const std::function<Result<void>(Rows&)>& each,
                     const std::atomic<bool>* cancelled = nullptr);

    // The rows of one statement as numbers, on a connection of its own.
    Result<NumberScan> scan_numbers(const std::string& select);

    // Which events this look sees.
    EventsSeen events_seen() const;

    // The same as scan_numbers(), but of events only those that came after `seen`; all else as it is now. Nothing: not all that was seen is
    // there as it was, so all must be read anew. One at a time, gone before the next look.
    Result<std::optional<NumberScan>> scan_new_numbers(const std::string& select,
                                                       const EventsSeen& seen);

    // COPY (`select`) TO `file`, one SELECT statement. `file` is one of the options, or in temporary_folder(). What is half written when it
    // fails, or is cancelled, is the caller's to remove.
    Result<void> write_parquet(const std::string& select,
                               const std::string& file,
                               const std::atomic<bool>* cancelled = nullptr);

    // One that goes with the database; its files are not yet another's.
    Result<std::string> temporary_folder();

    // Names that a prompt completes: public tables and their columns.
    Result<std::vector<std::string>> names();

    // Text to text; the door through which `apps` gives SQL the functions of other folders. Call it right after open().
    Result<void> register_function(SqlFunction function);
    Result<void> register_function(NumberFunction function);

    // CREATE OR REPLACE MACRO and VIEW, see definitions.h; that one names a made table does not make it. Call it right after open().
    void define(std::string_view statements);

    // Once, right after open(); kWall until then. kCluster needs a derivation of the table clock_map.
    void use_clock(EventClock clock);

    // Who makes the rows of a table of schema::derived_tables(), once a statement names it. Call it right after open().
    void register_table(TableDerivation derivation);
    bool makes_table(const std::string& name) const;

  private:
    struct Parts;
    explicit Database(std::unique_ptr<Parts> parts);

    Result<void> look();
    Result<void> run(const std::string& sql,
                     bool is_ours,
                     const std::function<Result<void>(Rows&)>& each,
                     const std::atomic<bool>* cancelled);
    Result<void> close_to_other_files(const DatabaseOptions& options);
    void make_temporary_folder();
    void set_times();
    Result<void> count_losses();

    std::unique_ptr<Parts> parts_;
};

}  // namespace dyetrace::store
