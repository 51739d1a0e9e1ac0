#include "query/flows/lineage_rows.h"

#include <algorithm>
#include <string>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"
#include "query/twins/derived_twins.h"

namespace dyetrace::query {
namespace {

template <typename Link>
Result<std::vector<Link>> load(store::Database& database,
                               const std::string& sql,
                               Link (*link_in)(const store::NumberColumns& columns,
                                               std::size_t row)) {
    std::vector<Link> links;
    TRY(each_number_row(database, sql, [&](const store::NumberColumns& columns, std::size_t row) {
        links.push_back(link_in(columns, row));
    }));
    return links;
}

Result<std::vector<analysis::ProgramStart>> load_programs(store::Database& database) {
    return load<analysis::ProgramStart>(
        database,
        filled(sql::kLineagePrograms),
        [](const store::NumberColumns& columns, std::size_t row) {
            return analysis::ProgramStart{columns[0][row], columns[1][row]};
        });
}

}  // namespace

Result<ProgramsRun> ProgramsRun::of(store::Database& database) {
    TRY(const auto starts, load_programs(database));
    ProgramsRun programs;
    for (const analysis::ProgramStart& start : starts) {
        programs.starts_[start.process].push_back(start.ns);
    }
    for (auto& [process, times] : programs.starts_) {
        std::ranges::sort(times);
    }
    return programs;
}

std::size_t ProgramsRun::by(std::uint64_t process, std::uint64_t time_ns) const {
    const auto found = starts_.find(process);
    return found == starts_.end()
               ? 0
               : static_cast<std::size_t>(std::ranges::upper_bound(found->second, time_ns) -
                                          found->second.begin());
}

Result<std::vector<analysis::ProcessLink>> load_processes(store::Database& database) {
    return load<analysis::ProcessLink>(
        database,
        filled(sql::kLineageProcesses),
        [](const store::NumberColumns& columns, std::size_t row) {
            return analysis::ProcessLink{columns[0][row], columns[1][row], columns[2][row]};
        });
}

Result<analysis::Lineage> load_lineage(store::Database& database) {
    TRY(make_twins(database));
    analysis::Lineage lineage;
    TRY(lineage.processes, load_processes(database));
    TRY(lineage.programs, load_programs(database));
    TRY(lineage.memories,
        load<analysis::MemoryLink>(
            database,
            filled(sql::kLineageMemories),
            [](const store::NumberColumns& columns, std::size_t row) {
                return analysis::MemoryLink{columns[0][row], columns[1][row], columns[2][row]};
            }));
    return lineage;
}

}  // namespace dyetrace::query
