#include "reports/export/export_scene.h"

#include <string>

#include "query/asked_rows.h"
#include "query/named_sql.h"
#include "query/sql.h"

namespace dyetrace::reports {
namespace {

template <typename Number>
std::optional<Number> number_or_none(const store::Cell& cell) {
    return cell.kind == store::CellKind::kNull
               ? std::nullopt
               : std::optional(static_cast<Number>(query::number_of(cell)));
}

std::uint32_t small_number_of(const store::Cell& cell) {
    return static_cast<std::uint32_t>(query::number_of(cell));
}

}  // namespace

Result<exporter::Scene> read_scene(store::Database& database) {
    exporter::Scene scene;
    TRY(query::each_row(database, query::filled(query::sql::kExportHosts), [&](query::Row row) {
        scene.hosts.push_back({small_number_of(row[0]),
                               std::string(row[1].text),
                               std::string(row[2].text),
                               std::string(row[3].text)});
    }));
    TRY(query::each_row(database, query::filled(query::sql::kExportProcesses), [&](query::Row row) {
        scene.processes[query::number_of(row[0])] = {small_number_of(row[1]),
                                                     small_number_of(row[2]),
                                                     small_number_of(row[3]),
                                                     std::string(row[4].text),
                                                     std::string(row[5].text),
                                                     std::string(row[6].text)};
    }));
    TRY(query::each_row(database, query::filled(query::sql::kExportThreads), [&](query::Row row) {
        scene.threads[query::number_of(row[0])] = {
            query::number_of(row[1]), small_number_of(row[2]), std::string(row[3].text)};
    }));
    return scene;
}

Result<exporter::PerfettoClock> perfetto_clock(store::Database& database, std::string_view clock) {
    exporter::PerfettoClock out;
    // The host that was started first: no time of any host is then before Perfetto's zero.
    TRY(query::each_row(database, query::filled(query::sql::kExportFirstHost), [&](query::Row row) {
        if (clock != "raw" && row[0].kind != store::CellKind::kNull) {
            out.wall_offset_ns = query::signed_number_of(row[0]);
        }
    }));
    TRY(query::each_row(
        database, query::filled(query::sql::kExportFirstBootTime), [&](query::Row row) {
            out.first_ns = static_cast<std::int64_t>(query::number_of(row[0])) +
                           out.wall_offset_ns.value_or(0);
        }));
    return out;
}

Result<void> each_gap(store::Database& database,
                      std::string_view clock,
                      const std::function<Result<void>(const exporter::LostEvents&)>& each) {
    bool are_several = false;
    TRY(query::each_row(database,
                        query::filled(query::sql::kExportAreSeveralHosts),
                        [&](query::Row row) { are_several = row[0].text == "true"; }));
    const bool is_cluster = clock == "cluster" && are_several;
    const std::string sql = is_cluster ? query::filled(query::sql::kExportGapsOfCluster)
                                       : query::filled(query::sql::kExportGaps, {{"clock", clock}});
    return database.query(sql, [&](store::Rows& rows) -> Result<void> {
        for (;;) {
            TRY(const query::Row row, rows.next());
            if (row.empty()) {
                return {};
            }
            TRY(each({.host_index = small_number_of(row[0]),
                      .begin_ns = query::signed_number_of(row[1]),
                      .duration_ns = query::number_of(row[2]),
                      .lost = number_or_none<std::uint64_t>(row[3]),
                      .reason = row[4].text,
                      .cpu = number_or_none<std::uint32_t>(row[5])}));
        }
    });
}

}  // namespace dyetrace::reports
