#include "store/database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/temporary_folder.h"
#include "base/text.h"
#include "schema/record_info.h"
#include "schema/sql.h"
#include "store/arguments_function.h"
#include "store/definitions.h"
#include "store/derived_tables.h"
#include "store/duckdb_engine.h"
#include "store/facts_tables.h"
#include "store/interrupt_watch.h"
#include "store/new_events.h"
#include "store/number_scan_state.h"
#include "store/numbered_calls_scan.h"
#include "store/raw_views.h"
#include "store/reading_statement.h"
#include "store/record_scan.h"
#include "store/rows_state.h"
#include "store/snapshot.h"
#include "store/sql_function.h"

namespace dyetrace::store {
namespace {

constexpr const char* kNewRecords = "_new_records";

// raw_<record>: what is in Parquet, what is not yet, and for gaps what only a reader can know.
std::string raw_view(const schema::RecordInfo& info, const Snapshot& snapshot, bool is_loaded) {
    RawParts parts;
    parts.add_files(snapshot.sealed, info);
    if (!snapshot.segments.empty() || !parts.has_all_columns()) {
        parts.add_blocks("_records", info);
    }
    if (info.id == schema::RecordId::kGap) {
        parts.add("SELECT * FROM internal.live_gap");
    }
    return parts.view(info, is_loaded);
}

// Has only the kinds that this trace may have: what DuckDB takes to bind the view, again for each statement, is mostly for its columns.
std::string events_view(bool is_clustered, const Snapshot& snapshot) {
    std::string selects;
    for (const schema::EventSelect& select : schema::event_selects(is_clustered)) {
        if (selects.empty() || may_have(snapshot, schema::find_record(select.record)->name)) {
            selects += (selects.empty() ? "" : "UNION ALL BY NAME\n") + std::string(select.sql);
        }
    }
    return "CREATE OR REPLACE VIEW events AS\n" + selects + ";\n";
}

Result<OwnedStatement> prepare(const Engine& engine,
                               duckdb_extracted_statements statements,
                               idx_t index) {
    OwnedStatement statement;
    if (duckdb_prepare_extracted_statement(
            engine.connection(), statements, index, statement.out()) != DuckDBSuccess) {
        return engine_error(duckdb_prepare_error(statement.get()));
    }
    if (duckdb_prepared_statement_type(statement.get()) == DUCKDB_STATEMENT_TYPE_LOAD) {
        return Error(ErrorCode::kUnsupported,
                     "extensions are neither fetched nor loaded: answers come from this program "
                     "and the files that it is given");
    }
    return statement;
}

// DuckDB takes a statement away when it prepares it.
Result<OwnedStatement> prepare_again(const Engine& engine, const std::string& sql, idx_t index) {
    OwnedStatements statements;
    duckdb_extract_statements(engine.connection(), sql.c_str(), statements.out());
    return prepare(engine, statements.get(), index);
}

Result<std::unique_ptr<Rows::State>> execute(const OwnedStatement& statement,
                                             const std::atomic<bool>* cancelled) {
    OwnedPending pending;
    if (duckdb_pending_prepared_streaming(statement.get(), pending.out()) != DuckDBSuccess) {
        return engine_error(duckdb_pending_error(pending.get()));
    }
    auto rows = std::make_unique<Rows::State>();
    // it sleeps while others do its tasks
    if (duckdb_execute_pending(pending.get(), rows->result.out()) != DuckDBSuccess) {
        return cancelled != nullptr && cancelled->load()
                   ? Error(ErrorCode::kInterrupted, "interrupted")
                   : engine_error(duckdb_result_error(rows->result.out()));
    }
    return rows;
}

Result<std::uint64_t> number_in(const Cell& cell) {
    std::uint64_t number = 0;
    for (const char c : cell.text) {
        number = number * 10 + static_cast<std::uint64_t>(c - '0');
    }
    return number;
}

}  // namespace

struct Database::Parts {
    trace::TraceFolder folder;
    // Made when it is needed: what is killed before that leaves nothing. It goes last, the engine has files in it.
    std::string temporary_path;
    std::optional<base::TemporaryFolder> temporary = std::nullopt;
    Engine engine;
    Definitions definitions = {};
    SealedFiles files;
    Snapshot snapshot = {};
    RecordSource source = {};
    RecordSource new_source = {};  // of the last scan of what is new
    TraceLosses losses = {};
    int threads = 1;
    DerivedTables derived = {};
    EventClock clock = EventClock::kWall;
    std::uint64_t looks = 0;
    bool is_trusting = false;
    std::uint64_t loaded_bytes_max = 0;

    // `asked` of them, or as many as CPUs; of so little, several would wait for each other.
    void choose_threads(int asked) {
        const int cpus = static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
        threads = asked > 0 ? asked : is_loaded() ? 1 : cpus;
        source.threads = threads;
    }
    bool is_loaded() const {
        return snapshot.segments.empty() &&
               sealed_bytes(snapshot).value_or(UINT64_MAX) <= loaded_bytes_max;
    }
    // What a statement names is there from here on.
    Result<void> define_for(std::string_view sql, const std::atomic<bool>* cancelled = nullptr) {
        Result<void> made = definitions.make_for(engine, sql, cancelled);
        derived.forget_wanted();  // of the views
        if (!made.ok() && cancelled != nullptr && cancelled->load()) {
            return Error(ErrorCode::kInterrupted, "interrupted");
        }
        return std::move(made).with_context(fmt::format("cannot open '{}'", folder.path()));
    }
    Result<bool> define_all() {
        TRY(const bool made, definitions.make_all(engine));
        derived.forget_wanted();
        return made;
    }
};

std::string TraceLosses::text() const {
    if (gaps == 0) {
        return {};
    }
    std::string text = base::counted(gaps, "gap") + ": ";
    text += lost == 0 && unknown_gaps > 0
                ? "how many events were lost is not known"
                : fmt::format("{} lost{}",
                              base::counted(lost, "event"),
                              unknown_gaps > 0 ? "; how many more is not known" : "");
    text += disk_full ? " (the disk was full: the recording ended there)" : "";
    text += disk_failed ? " (the disk failed: the recording ended there)" : "";
    return text + (recorder_died ? " (the recorder died)" : "");
}

Database::Database(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Database::~Database() = default;

const std::string& Database::path() const {
    return parts_->folder.path();
}
trace::TraceState Database::state() const {
    return parts_->snapshot.state;
}
const TraceLosses& Database::losses() const {
    return parts_->losses;
}
const std::vector<std::string>& Database::damages() const {
    return parts_->snapshot.damages;
}

Result<std::unique_ptr<Database>> Database::open(const std::string& path,
                                                 const DatabaseOptions& options) {
    TRY(trace::TraceFolder folder, trace::TraceFolder::open(path));
    if (!options.is_trusting) {
        TRY(folder.check_kinds());
    }
    EngineOptions engine_options;
    engine_options.threads =
        1;  // while there is little to do: waiting for others would take longer
    engine_options.memory_limit = options.memory_limit;
    engine_options.temporary_limit = options.temporary_limit;
    const std::string temporary_path = base::TemporaryFolder::free_path();
    engine_options.temporary_folder = temporary_path + "/spilled";
    TRY(Engine engine, Engine::open(engine_options));
    auto parts = std::make_unique<Parts>(Parts{.folder = std::move(folder),
                                               .temporary_path = temporary_path,
                                               .engine = std::move(engine),
                                               .files = SealedFiles(options.check_bytes_max),
                                               .is_trusting = options.is_trusting,
                                               .loaded_bytes_max = options.loaded_bytes_max});
    // Each question opens the files of every host and table anew; a sealed file never changes.
    TRY(parts->engine.run("SET parquet_metadata_cache = true"));
    // A side of an ASOF join that DuckDB expects to be small it compares with all of the other one: of 10^8 events, after conditions, it expects a few.
    TRY(parts->engine.run("SET GLOBAL asof_loop_join_threshold = 0"));
    TRY(register_record_scan(parts->engine, parts->source));
    TRY(register_record_scan(parts->engine, parts->new_source, kNewRecords));
    TRY(parts->derived.add_functions(parts->engine));
    TRY(register_argument_functions(parts->engine));
    TRY(register_numbered_calls(parts->engine));
    parts->definitions.add(schema::labels_sql());
    parts->definitions.add(schema::macros_sql());
    parts->definitions.add(kArgumentsByFunction);
    std::unique_ptr<Database> database(new Database(std::move(parts)));
    TRY(database->look());
    database->parts_->choose_threads(options.threads);
    if (!options.is_trusting) {
        TRY(database->close_to_other_files(options));
    }
    TRY(database->parts_->engine.run(
        fmt::format("SET threads = {}; SET lock_configuration = true", database->parts_->threads)));
    return database;
}

// DuckDB compares paths as texts: ours have neither links nor dots in them (file_literal()).
Result<void> Database::close_to_other_files(const DatabaseOptions& options) {
    std::string files;
    for (const std::string& file : options.files) {
        files += (files.empty() ? "" : ", ") + file_literal(file);
    }
    return parts_->engine.run(
        fmt::format("SET allowed_directories = [{}, {}]; SET allowed_paths = [{}]; SET "
                    "enable_external_access = false",
                    file_literal(path()),
                    file_literal(parts_->temporary_path),
                    files));
}

void Database::make_temporary_folder() {
    if (parts_->temporary) {
        return;
    }
    if (auto made = base::TemporaryFolder::make(parts_->temporary_path); made.ok()) {
        parts_->temporary.emplace(std::move(made).value());
    }
}

Result<std::string> Database::temporary_folder() {
    make_temporary_folder();
    if (!parts_->temporary) {
        return Error(ErrorCode::kIo, fmt::format("cannot make '{}'", parts_->temporary_path));
    }
    return parts_->temporary_path;
}

std::uint64_t Database::looks() const {
    return parts_->looks;
}

Result<void> Database::refresh() {
    return look();
}

Result<void> Database::look() {
    Parts& parts = *parts_;
    ++parts.looks;
    TRY(parts.snapshot, take_snapshot(parts.folder, parts.files));
    parts.source = {.blocks = {}, .threads = parts.threads};
    for (const trace::SegmentReader& segment : parts.snapshot.segments) {
        for (const trace::BlockHeader& block : segment.blocks()) {
            parts.source.blocks.push_back({&segment, block});
        }
    }
    parts.definitions.add(schema::live_tables_sql());
    TRY(parts.define_for("live_gap"));
    TRY(insert_gaps(parts.engine, parts.snapshot.lost));
    TRY(make_hosts_table(parts.engine, parts.snapshot.hosts));
    std::string views;
    for (const schema::RecordInfo& info : schema::records()) {
        views += raw_view(info, parts.snapshot, parts.is_loaded());
    }
    parts.definitions.add(views);
    parts.derived.look(parts.definitions, path(), parts.snapshot, parts.temporary_path);
    parts.definitions.add(schema::facts_sql() + events_view(false, parts.snapshot) +
                          schema::tables_sql());
    set_times();
    return count_losses();
}

void Database::use_clock(EventClock clock) {
    parts_->clock = clock;
    set_times();
}

void Database::set_times() {
    Parts& parts = *parts_;
    if (parts.clock == EventClock::kRaw) {
        parts.definitions.add(
            "CREATE OR REPLACE MACRO _wall_time(boot_ns, wall_offset_ns) AS "
            "make_timestamp_ns(boot_ns::BIGINT)");
    }
    if (parts.clock == EventClock::kCluster && parts.snapshot.hosts.size() > 1) {
        parts.definitions.add(schema::clock_pieces_sql() + events_view(true, parts.snapshot) +
                              schema::clustered_tables_sql());
    }
}

Result<void> Database::count_losses() {
    const std::string unknown = std::to_string(UINT64_MAX);
    return query(
        fmt::format(
            "SELECT count(*), least(coalesce(sum(lost) FILTER (lost < {0}), 0), {0})::UBIGINT, "
            "count(*) FILTER (lost = {0}), count(*) FILTER (reason = {1}), count(*) FILTER (reason "
            "= {2}), count(*) FILTER (reason = {3}) FROM internal.raw_gap",
            unknown,
            static_cast<unsigned>(schema::GapReason::kRecorderDied),
            static_cast<unsigned>(schema::GapReason::kDiskFull),
            static_cast<unsigned>(schema::GapReason::kDiskError)),
        [this](Rows& rows) -> Result<void> {
            TRY(const std::span<const Cell> row, rows.next());
            TRY(parts_->losses.gaps, number_in(row[0]));
            TRY(parts_->losses.lost, number_in(row[1]));
            TRY(parts_->losses.unknown_gaps, number_in(row[2]));
            parts_->losses.recorder_died = row[3].text != "0";
            parts_->losses.disk_full = row[4].text != "0";
            parts_->losses.disk_failed = row[5].text != "0";
            return {};
        });
}

Result<void> Database::query(const std::string& sql,
                             const std::function<Result<void>(Rows&)>& each,
                             const std::atomic<bool>* cancelled) {
    return run(sql, true, each, cancelled);
}

Result<void> Database::ask(const std::string& sql,
                           const std::function<Result<void>(Rows&)>& each,
                           const std::atomic<bool>* cancelled) {
    return run(sql, parts_->is_trusting, each, cancelled);
}

Result<void> Database::run(const std::string& sql,
                           bool is_ours,
                           const std::function<Result<void>(Rows&)>& each,
                           const std::atomic<bool>* cancelled) {
    const Engine& engine = parts_->engine;
    TRY(parts_->define_for(sql, cancelled));
    OwnedStatements statements;
    const idx_t count =
        duckdb_extract_statements(engine.connection(), sql.c_str(), statements.out());
    if (const char* const message = duckdb_extract_statements_error(statements.get());
        message != nullptr) {
        return engine_error(message);
    }
    if (!is_ours) {
        TRY(check_words(sql, count));
    }
    for (idx_t i = 0; i < count; ++i) {
        auto prepared = prepare(engine, statements.get(), i);
        if (!prepared.ok()) {  // it may name what no word of it does
            TRY(const bool is_more, parts_->define_all());
            prepared = is_more ? prepare_again(engine, sql, i) : std::move(prepared);
        }
        TRY(OwnedStatement statement, std::move(prepared));
        if (!is_ours) {
            TRY(check_only_reads(engine, statement, sql, count));
        }
        if (parts_->derived.wanted()) {
            make_temporary_folder();
            TRY(parts_->derived.make_wanted(*this, engine, parts_->definitions, cancelled));
            TRY(parts_->define_for(sql, cancelled));
            TRY(statement, prepare_again(engine, sql, i));
        }
        const InterruptWatch watch(engine.connection(), cancelled);
        auto executed = execute(statement, cancelled);
        if (!executed.ok() && !parts_->temporary &&
            executed.error().text().find(parts_->temporary_path) != std::string::npos) {
            make_temporary_folder();  // it was the first to need more than the memory
            TRY(statement, prepare_again(engine, sql, i));
            executed = execute(statement, cancelled);
        }
        TRY(std::unique_ptr<Rows::State> state, std::move(executed));
        Rows rows(std::move(state));
        Result<void> taken = each(rows);
        if (!taken.ok()) {
            return cancelled != nullptr && cancelled->load()
                       ? Error(ErrorCode::kInterrupted, "interrupted")
                       : std::move(taken);
        }
    }
    return {};
}

Result<void> Database::write_parquet(const std::string& select,
                                     const std::string& file,
                                     const std::atomic<bool>* cancelled) {
    std::string statement = select;
    while (!statement.empty() &&
           (statement.back() == ';' ||
            std::isspace(static_cast<unsigned char>(statement.back())) != 0)) {
        statement.pop_back();
    }
    TRY(parts_->define_for(statement, cancelled));
    TRY(check_one_select(parts_->engine, statement));
    return query(
        fmt::format("COPY (\n{}\n) TO {} (FORMAT parquet, COMPRESSION zstd, USE_TMP_FILE false)",
                    statement,
                    file_literal(file)),
        [](Rows&) { return Result<void>(); },
        cancelled);
}

Result<std::vector<std::string>> Database::names() {
    std::vector<std::string> names;
    TRY(query(
        "SELECT DISTINCT name FROM (SELECT view_name AS name, schema_name FROM duckdb_views() "
        "WHERE NOT internal UNION ALL "
        "SELECT column_name, schema_name FROM duckdb_columns() WHERE NOT internal) "
        "WHERE schema_name = 'main' "
        "ORDER BY name",
        [&](Rows& rows) -> Result<void> {
            for (;;) {
                TRY(const std::span<const Cell> row, rows.next());
                if (row.empty()) {
                    return {};
                }
                names.emplace_back(row[0].text);
            }
        }));
    return names;
}

Result<void> Database::register_function(SqlFunction function) {
    return register_sql_function(parts_->engine, std::move(function));
}

Result<void> Database::register_function(NumberFunction function) {
    return register_number_function(parts_->engine, parts_->derived, std::move(function));
}

Result<NumberScan> Database::scan_numbers(const std::string& select) {
    TRY(parts_->define_for(select));
    TRY(std::unique_ptr<NumberScan::State> state, start_number_scan(parts_->engine, select));
    return NumberScan(std::move(state));
}

EventsSeen Database::events_seen() const {
    return store::events_seen(parts_->snapshot);
}

Result<std::optional<NumberScan>> Database::scan_new_numbers(const std::string& select,
                                                             const EventsSeen& seen) {
    Parts& parts = *parts_;
    const std::optional<NewEvents> events = new_events(parts.snapshot, seen);
    if (!events) {
        return std::optional<NumberScan>();
    }
    parts.new_source = {.blocks = events->blocks, .threads = parts.threads};
    const std::string views = new_events_views(*events, kNewRecords);
    TRY(parts.define_for(select + "\n" + views));
    TRY(std::unique_ptr<NumberScan::State> state, start_number_scan(parts.engine, select, views));
    return std::optional(NumberScan(std::move(state)));
}

void Database::define(std::string_view statements) {
    parts_->definitions.add(statements);
}

void Database::register_table(TableDerivation derivation) {
    parts_->derived.add(parts_->definitions, std::move(derivation));
}

bool Database::makes_table(const std::string& name) const {
    return parts_->derived.makes(name);
}

}  // namespace dyetrace::store
