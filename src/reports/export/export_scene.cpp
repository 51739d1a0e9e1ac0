#include "reports/export/export_scene.h"

#include <fmt/format.h>

#include <string>

#include "query/asked_rows.h"

namespace dyetrace::reports {
namespace {

constexpr const char* kProcesses =
    "SELECT p.process_id, h.host_index, p.pid, p.ppid, p.comm, p.exe, p.container FROM processes p "
    "JOIN hosts h USING (host)";
constexpr const char* kThreads = "SELECT thread_id, process_id, tid, comm FROM threads";

// {} is when a gap began, by the clock of the events.
constexpr const char* kGaps =
    "SELECT h.host_index, {} AS moment, (g.end_ns - g.begin_ns)::UBIGINT, g.lost, g.reason, g.cpu "
    "FROM gaps g JOIN internal.hosts h ON h.name = g.host {} ORDER BY moment, 1, 3, 4, 5, 6";
// As `events` has it: outside the pieces of the map by the wall clock.
constexpr const char* kClusterMoment =
    "epoch_ns(coalesce(_cluster_time(g.begin_ns, m.from_ns, m.to_ns, m.cluster_ns, "
    "m.cluster_to_ns), _wall_time(g.begin_ns, h.wall_offset_ns)))";
constexpr const char* kClusterJoin =
    "LEFT JOIN internal.derived_clock_map m ON m.host_index = h.host_index AND g.begin_ns >= "
    "m.from_ns AND g.begin_ns < m.to_ns";

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
    TRY(query::each_row(database,
                        "SELECT host_index, host, boot_id, kernel FROM hosts ORDER BY host_index",
                        [&](query::Row row) {
                            scene.hosts.push_back({small_number_of(row[0]),
                                                   std::string(row[1].text),
                                                   std::string(row[2].text),
                                                   std::string(row[3].text)});
                        }));
    TRY(query::each_row(database, kProcesses, [&](query::Row row) {
        scene.processes[query::number_of(row[0])] = {small_number_of(row[1]),
                                                     small_number_of(row[2]),
                                                     small_number_of(row[3]),
                                                     std::string(row[4].text),
                                                     std::string(row[5].text),
                                                     std::string(row[6].text)};
    }));
    TRY(query::each_row(database, kThreads, [&](query::Row row) {
        scene.threads[query::number_of(row[0])] = {
            query::number_of(row[1]), small_number_of(row[2]), std::string(row[3].text)};
    }));
    return scene;
}

Result<exporter::PerfettoClock> perfetto_clock(store::Database& database, std::string_view clock) {
    exporter::PerfettoClock out;
    // The host that was started first: no time of any host is then before Perfetto's zero.
    TRY(query::each_row(database, "SELECT min(wall_offset_ns) FROM hosts", [&](query::Row row) {
        if (clock != "raw" && row[0].kind != store::CellKind::kNull) {
            out.wall_offset_ns = query::signed_number_of(row[0]);
        }
    }));
    TRY(query::each_row(
        database,
        "SELECT min(boot_ns) FROM clock_snapshots JOIN hosts USING (host) WHERE wall_offset_ns = "
        "(SELECT min(wall_offset_ns) FROM hosts)",
        [&](query::Row row) {
            out.first_ns = static_cast<std::int64_t>(query::number_of(row[0])) +
                           out.wall_offset_ns.value_or(0);
        }));
    return out;
}

Result<void> each_gap(store::Database& database,
                      std::string_view clock,
                      const std::function<Result<void>(const exporter::LostEvents&)>& each) {
    bool are_several = false;
    TRY(query::each_row(database, "SELECT count(*) > 1 FROM hosts", [&](query::Row row) {
        are_several = row[0].text == "true";
    }));
    const bool is_cluster = clock == "cluster" && are_several;
    const std::string sql = fmt::format(fmt::runtime(kGaps),
                                        is_cluster       ? kClusterMoment
                                        : clock == "raw" ? "g.begin_ns::BIGINT"
                                                         : "g.begin_ns::BIGINT + h.wall_offset_ns",
                                        is_cluster ? kClusterJoin : "");
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
