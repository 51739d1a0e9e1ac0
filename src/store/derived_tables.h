// Where the rows of made tables are: nowhere yet, or in a Parquet file. For this folder's sources only.
//
//   a statement names flows ──prepare──► wanted() = flows ──► make() ──► derived/flows.parquet ──► the statement runs
//
// The file is kept in the trace once the recording has ended and all is sealed; else, or where this user may not write,
// in a temporary folder for as long as the database is open. A file that was made of other events, or has changed since it was written
// (flows.sum), is not looked at.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "schema/derived_tables.h"
#include "store/definitions.h"
#include "store/duckdb_engine.h"
#include "store/snapshot.h"
#include "store/table_derivation.h"

namespace dyetrace::store {

class DerivedTables {
  public:
    // The functions _derived and _derived_rows; this must outlive the engine's queries.
    Result<void> add_functions(const Engine& engine);
    // The table's file may fit from here on.
    void add(Definitions& definitions, TableDerivation derivation);
    bool makes(const std::string& name) const { return derivations_.contains(name); }

    // A new look at the trace: defines the views internal.derived_<name> over the files that fit it. Files that are not kept go
    // to the temporary folder.
    void look(Definitions& definitions,
              const std::string& trace,
              const Snapshot& snapshot,
              const std::string& temporary_folder);

    // A statement needs the table, though it does not name it.
    void want(const std::string& name);

    // Names of tables without a file that statements have named since the last make().
    bool wanted() const { return !wanted_.empty(); }
    void forget_wanted() { wanted_.clear(); }
    Result<void> make_wanted(Database& database,
                             const Engine& engine,
                             Definitions& definitions,
                             const std::atomic<bool>* cancelled);

  private:
    struct Functions;  // what DuckDB calls
    struct Scan;

    Result<void> fill(Scan& scan, duckdb_data_chunk chunk);
    Result<std::string> make(Database& database,
                             const Engine& engine,
                             const schema::DerivedTable& table);
    void define(Definitions& definitions, const schema::DerivedTable& table);
    std::string folder_for_file() const;
    std::string kept_folder() const;
    std::string kept_path(const std::string& name) const;
    bool fits(const Engine& engine, const schema::DerivedTable& table) const;
    std::string stamp(const std::string& name) const;

    std::map<std::string, TableDerivation> derivations_;
    std::vector<std::string> wanted_;
    std::set<std::string> missing_;  // without a file
    std::string trace_;
    std::string content_;  // which events there are, as text
    bool may_keep_ = false;
    std::string temporary_folder_;
    RowSource source_;  // of the table that is being made
    const std::atomic<bool>* cancelled_ = nullptr;
};

}  // namespace dyetrace::store
