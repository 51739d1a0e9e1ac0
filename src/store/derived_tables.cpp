#include "store/derived_tables.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <condition_variable>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "store/database.h"
#include "store/raw_views.h"
#include "trace/sealed_info.h"

namespace dyetrace::store {
namespace {

constexpr const char* kFolder = "derived";
constexpr std::uint64_t kCheckBytesMax = std::uint64_t{4} << 30;  // as Database: 2 s from memory
constexpr std::size_t kSumBytesMax = 100;

const schema::DerivedTable* find_derived_table(std::string_view name) {
    for (const schema::DerivedTable& table : schema::derived_tables()) {
        if (name == table.name) {
            return &table;
        }
    }
    return nullptr;
}

// Which events there are: what is sealed never changes, so names and sizes tell.
std::string content_of(const Snapshot& snapshot) {
    std::string content;
    std::uint64_t bytes = 0;
    for (const SealedFolder& folder : snapshot.sealed) {
        for (const std::string& record : folder.records) {
            std::error_code error;
            const auto size =
                std::filesystem::file_size(folder.path + "/" + record + ".parquet", error);
            bytes += error ? 0 : size;
        }
    }
    const std::string last = snapshot.sealed.empty() ? "" : snapshot.sealed.back().path;
    return fmt::format("{} segments to {}, {} bytes",
                       snapshot.sealed.size(),
                       std::filesystem::path(last).filename().string(),
                       bytes);
}

void put_column(const schema::DerivedColumn& column,
                std::size_t index,
                std::span<const std::uint64_t> numbers,
                std::size_t width,
                duckdb_vector vector) {
    const std::size_t rows = numbers.size() / width;
    if (column.is_small) {
        auto* const values = static_cast<std::uint8_t*>(duckdb_vector_get_data(vector));
        for (std::size_t row = 0; row < rows; ++row) {
            values[row] = static_cast<std::uint8_t>(numbers[row * width + index]);
        }
        return;
    }
    auto* const values = static_cast<std::uint64_t*>(duckdb_vector_get_data(vector));
    duckdb_vector_ensure_validity_writable(vector);
    std::uint64_t* const validity = duckdb_vector_get_validity(vector);
    for (std::size_t row = 0; row < rows; ++row) {
        values[row] = numbers[row * width + index];
        duckdb_validity_set_row_validity(validity, row, values[row] != schema::kDerivedNull);
    }
}

// Beside a kept file lies what it was when it was written, "2591 0123456789abcdef": its bytes and their XXH3-64. Nobody else would notice a
// bit that changed; a file that is another one is made again.
std::string sum_path(const std::string& folder, const std::string& name) {
    return fmt::format("{}/{}.sum", folder, name);
}

Result<void> write_sum(const std::string& folder, const std::string& name) {
    TRY(const trace::SealedFile file, trace::describe_sealed_file(folder, name, 0));
    return base::write_file_atomically(sum_path(folder, name),
                                       fmt::format("{} {:016x}\n", file.bytes, file.checksum));
}

bool is_as_written(const std::string& folder, const std::string& name) {
    const auto text = base::read_regular_file(sum_path(folder, name), kSumBytesMax);
    trace::SealedFile written{.record = name};
    if (!text.ok() ||
        std::sscanf(
            text.value().c_str(), "%" SCNu64 " %" SCNx64, &written.bytes, &written.checksum) != 2) {
        return false;
    }
    const auto check =
        written.bytes <= kCheckBytesMax ? trace::FileCheck::kContent : trace::FileCheck::kSize;
    return !trace::damage_of(folder, written, check).has_value();
}

// The turn of one database among those of this process that want the same file: it may take minutes to make, and memory.
class Turn {
  public:
    // Error: cancelled before those who came first were done.
    static Result<Turn> wait(const std::string& path, const std::atomic<bool>* cancelled) {
        std::unique_lock lock(mutex_);
        while (!taken_.insert(path).second) {
            if (cancelled != nullptr && cancelled->load()) {
                return Error(ErrorCode::kInterrupted, "interrupted while another made it");
            }
            given_back_.wait_for(lock, kLookEvery);
        }
        return Turn(path);
    }
    Turn(Turn&& other) noexcept : path_(std::exchange(other.path_, {})) {}
    Turn& operator=(Turn&&) = delete;
    ~Turn() {
        if (!path_.empty()) {
            {
                const std::lock_guard lock(mutex_);
                taken_.erase(path_);
            }
            given_back_.notify_all();
        }
    }

  private:
    explicit Turn(std::string path) : path_(std::move(path)) {}

    static constexpr std::chrono::milliseconds kLookEvery{20};  // whether it was cancelled

    static inline std::mutex mutex_;
    static inline std::condition_variable given_back_;
    static inline std::set<std::string> taken_;

    std::string path_;
};

}  // namespace

// Rows that the source gave and DuckDB has not taken yet.
struct DerivedTables::Scan {
    const schema::DerivedTable* table;
    std::vector<std::uint64_t> numbers;
    std::size_t taken = 0;
};

struct DerivedTables::Functions {
    static void bind(duckdb_bind_info bind) {
        const schema::DerivedTable* const table = find_derived_table(text_argument(bind));
        if (table == nullptr) {
            duckdb_bind_set_error(bind, "no such table is made");
            return;
        }
        for (const schema::DerivedColumn& column : table->columns) {
            const OwnedLogicalType type(duckdb_create_logical_type(
                column.is_small ? DUCKDB_TYPE_UTINYINT : DUCKDB_TYPE_UBIGINT));
            duckdb_bind_add_result_column(bind, column.name, type.get());
        }
        duckdb_bind_set_bind_data(
            bind, std::make_unique<Scan>(Scan{table, {}, 0}).release(), [](void* scan) {
                std::unique_ptr<Scan>(static_cast<Scan*>(scan)).reset();
            });
    }

    // _derived: that it is asked for is all that it tells.
    static void bind_wanted(duckdb_bind_info info) {
        bind(info);
        auto& tables = *static_cast<DerivedTables*>(duckdb_bind_get_extra_info(info));
        const std::string name = text_argument(info);
        tables.want(name);
    }

    static void init(duckdb_init_info info) { duckdb_init_set_max_threads(info, 1); }

    static void refuse(duckdb_function_info info, duckdb_data_chunk) {
        duckdb_function_set_error(info, "this table was not made before the statement ran");
    }

    static void give_rows(duckdb_function_info info, duckdb_data_chunk chunk) {
        auto& tables = *static_cast<DerivedTables*>(duckdb_function_get_extra_info(info));
        auto& scan = *static_cast<Scan*>(duckdb_function_get_bind_data(info));
        if (const auto given = tables.fill(scan, chunk); !given.ok()) {
            duckdb_function_set_error(info, given.error().text().c_str());
        }
    }
};

Result<void> DerivedTables::fill(Scan& scan, duckdb_data_chunk chunk) {
    if (cancelled_ != nullptr && cancelled_->load()) {
        return Error(ErrorCode::kInterrupted, "interrupted");
    }
    const std::size_t width = scan.table->columns.size();
    if (scan.taken == scan.numbers.size()) {
        scan.numbers.clear();
        scan.taken = 0;
        TRY(source_(scan.numbers));
    }
    const std::size_t rows =
        std::min<std::size_t>((scan.numbers.size() - scan.taken) / width, duckdb_vector_size());
    const auto numbers = std::span(scan.numbers).subspan(scan.taken, rows * width);
    for (std::size_t i = 0; i < width; ++i) {
        put_column(
            scan.table->columns[i], i, numbers, width, duckdb_data_chunk_get_vector(chunk, i));
    }
    scan.taken += rows * width;
    duckdb_data_chunk_set_size(chunk, rows);
    return {};
}

Result<void> DerivedTables::add_functions(const Engine& engine) {
    for (const bool gives_rows : {false, true}) {
        const OwnedTableFunction function(duckdb_create_table_function());
        const OwnedLogicalType text(duckdb_create_logical_type(DUCKDB_TYPE_VARCHAR));
        duckdb_table_function_set_name(function.get(), gives_rows ? "_derived_rows" : "_derived");
        duckdb_table_function_add_parameter(function.get(), text.get());
        duckdb_table_function_set_extra_info(function.get(), this, nullptr);
        duckdb_table_function_set_bind(function.get(),
                                       gives_rows ? &Functions::bind : &Functions::bind_wanted);
        duckdb_table_function_set_init(function.get(), &Functions::init);
        duckdb_table_function_set_function(function.get(),
                                           gives_rows ? &Functions::give_rows : &Functions::refuse);
        if (duckdb_register_table_function(engine.connection(), function.get()) != DuckDBSuccess) {
            return Error(ErrorCode::kIo, "DuckDB refuses the functions of made tables");
        }
    }
    return {};
}

void DerivedTables::want(const std::string& name) {
    if (missing_.contains(name) &&
        std::find(wanted_.begin(), wanted_.end(), name) == wanted_.end()) {
        wanted_.push_back(name);
    }
}

void DerivedTables::add(Definitions& definitions, TableDerivation derivation) {
    const schema::DerivedTable* const table = find_derived_table(derivation.name);
    std::string name = derivation.name;
    derivations_.insert_or_assign(std::move(name), std::move(derivation));
    if (table != nullptr) {
        define(definitions, *table);
    }
}

std::string DerivedTables::kept_folder() const {
    return fmt::format("{}/{}", trace_, kFolder);
}

std::string DerivedTables::kept_path(const std::string& name) const {
    return fmt::format("{}/{}.parquet", kept_folder(), name);
}

std::string DerivedTables::stamp(const std::string& name) const {
    const auto derivation = derivations_.find(name);
    return fmt::format("rules {}, {}",
                       derivation == derivations_.end() ? 0 : derivation->second.version,
                       content_);
}

bool DerivedTables::fits(const Engine& engine, const schema::DerivedTable& table) const {
    const std::string path = kept_path(table.name);
    if (!may_keep_ || ::access(path.c_str(), R_OK) != 0 ||
        !is_as_written(kept_folder(), table.name)) {
        return false;
    }
    const auto same = engine.first_number(fmt::format(
        "SELECT count(*) FROM parquet_kv_metadata({}) WHERE decode(key) = 'dyetrace' AND "
        "decode(value) = {}",
        file_literal(path),
        sql_text(stamp(table.name))));
    return same.ok() && same.value() == 1;
}

void DerivedTables::look(Definitions& definitions,
                         const std::string& trace,
                         const Snapshot& snapshot,
                         const std::string& temporary_folder) {
    trace_ = trace;
    temporary_folder_ = temporary_folder;
    content_ = content_of(snapshot);
    may_keep_ = snapshot.state != trace::TraceState::kRecording && snapshot.segments.empty() &&
                snapshot.damages.empty();
    missing_.clear();
    for (const schema::DerivedTable& table : schema::derived_tables()) {
        define(definitions, table);
    }
}

// Whether a kept file fits is looked at when a statement names the table: it may be large.
void DerivedTables::define(Definitions& definitions, const schema::DerivedTable& table) {
    missing_.insert(table.name);
    definitions.add(fmt::format(
        "CREATE OR REPLACE VIEW internal.derived_{0} AS FROM _derived('{0}')", table.name));
}

// The trace's own, or one that goes with the database.
std::string DerivedTables::folder_for_file() const {
    const std::string kept = kept_folder();
    const bool may_write = may_keep_ && (::mkdir(kept.c_str(), 0755) == 0 || errno == EEXIST) &&
                           ::access(kept.c_str(), W_OK) == 0;
    return may_write ? kept : temporary_folder_;
}

Result<void> DerivedTables::make_wanted(Database& database,
                                        const Engine& engine,
                                        Definitions& definitions,
                                        const std::atomic<bool>* cancelled) {
    cancelled_ = cancelled;
    const std::vector<std::string> names = std::exchange(wanted_, {});
    for (const std::string& name : names) {
        TRY(const std::string path,
            make(database, engine, *find_derived_table(name))
                .with_context(fmt::format("cannot make the table {}", name)));
        missing_.erase(name);
        std::error_code error;
        definitions.add(internal_view("derived_" + name,
                                      fmt::format("FROM read_parquet({})", file_literal(path)),
                                      std::filesystem::file_size(path, error) <= kLoadedBytesMax));
    }
    wanted_.clear();
    return {};
}

// Returns where the rows are.
Result<std::string> DerivedTables::make(Database& database,
                                        const Engine& engine,
                                        const schema::DerivedTable& table) {
    const auto derivation = derivations_.find(table.name);
    if (derivation == derivations_.end()) {
        return Error(ErrorCode::kUnsupported, "this verb has no rules for it: ask `dyetrace sql`");
    }
    const std::string folder = folder_for_file();
    const std::string path = fmt::format("{}/{}.parquet", folder, table.name);
    TRY([[maybe_unused]] const Turn turn, Turn::wait(path, cancelled_));
    if (fits(engine, table)) {  // kept, perhaps made meanwhile
        return kept_path(table.name);
    }
    TRY(source_, derivation->second.start(database));
    const std::string unfinished = base::begin_draft(path);
    Result<void> written = engine.run(
        fmt::format("COPY (FROM _derived_rows('{}')) TO {} (FORMAT parquet, COMPRESSION zstd, "
                    "COMPRESSION_LEVEL 1, PARQUET_VERSION V2, KV_METADATA {{dyetrace: {}}})",
                    table.name,
                    file_literal(unfinished),
                    sql_text(stamp(table.name))));
    source_ = {};
    if (!written.ok()) {
        ::unlink(unfinished.c_str());
        return std::move(written).error();
    }
    if (::rename(unfinished.c_str(), path.c_str()) != 0) {
        return Error::from_errno(errno, fmt::format("cannot put '{}' in its place", path));
    }
    if (folder == kept_folder()) {
        static_cast<void>(write_sum(folder, table.name).ok());  // without it, it is made once more
    }
    return path;
}

}  // namespace dyetrace::store
