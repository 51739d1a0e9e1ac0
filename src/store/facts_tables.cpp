#include "store/facts_tables.h"

#include <fmt/format.h>

#include "schema/text.h"

namespace dyetrace::store {

Result<void> insert_gaps(const Engine& engine, const std::vector<trace::LostRange>& lost) {
    for (const trace::LostRange& range : lost) {
        const schema::Gap& gap = range.gap;
        TRY(engine.run(
            fmt::format("INSERT INTO internal.live_gap VALUES ({}, {}, {}, {}, {}, {}, {})",
                        range.host_index,
                        gap.cpu,
                        gap.header.sequence,
                        gap.begin_ns,
                        gap.end_ns,
                        gap.lost,
                        gap.reason)));
    }
    return {};
}

void name_host(std::vector<trace::LostRange>& lost, const trace::TraceFolder& folder) {
    if (folder.info().hosts.size() != 1) {
        return;
    }
    for (trace::LostRange& range : lost) {
        range.host_index = folder.host_index();
    }
}

Result<void> make_hosts_table(const Engine& engine, const std::vector<trace::Host>& hosts) {
    TRY(engine.run(
        "CREATE OR REPLACE TABLE internal.hosts (host_index USMALLINT, name VARCHAR, boot_id "
        "VARCHAR, kernel VARCHAR, "
        "machine VARCHAR, cpus UINTEGER, wall_offset_ns BIGINT, network_namespace "
        "UINTEGER, node_by VARCHAR)"));
    for (const trace::Host& host : hosts) {
        TRY(engine.run(
            fmt::format("INSERT INTO internal.hosts VALUES ({}, {}, {}, {}, {}, {}, {}, {}, {})",
                        host.index,
                        sql_text(host.name),
                        sql_text(host.boot_id),
                        sql_text(host.kernel),
                        sql_text(host.machine),
                        host.cpus,
                        host.wall_offset_ns,
                        host.network_namespace,
                        sql_text(host.node_by))));
    }
    return {};
}

}  // namespace dyetrace::store
