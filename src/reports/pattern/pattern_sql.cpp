#include "reports/pattern/pattern_sql.h"

#include <fmt/format.h>

#include "base/sql_literal.h"

namespace dyetrace::reports {
namespace {

constexpr const char* kPatternViews = R"sql(
CREATE OR REPLACE TEMP VIEW _pattern_moves AS
SELECT CASE WHEN transfer IN ('write', 'copy_from') THEN 'write' ELSE 'read' END AS access,
       host, path, file_offset AS first_byte, bytes, object_size AS size, fingerprint, offset_certain, start_ns, event_id, process_id, thread_id, comm, tid
FROM events WHERE transfer IS NOT NULL
UNION ALL
SELECT CASE WHEN transfer = 'copy_from' THEN 'read' ELSE 'write' END,
       host, path2, file_offset2, bytes, NULL, fingerprint, offset2_certain, start_ns, event_id, process_id, thread_id, comm, tid
FROM events WHERE transfer IN ('copy_to', 'copy_from', 'tee');

CREATE OR REPLACE TEMP VIEW _pattern_processes AS
SELECT process_id, coalesce(nullif(regexp_extract(exe, '([^/]+?)( \(deleted\))?$', 1), ''), comm, '?') || '[' || pid || ']' AS process
FROM processes;

CREATE OR REPLACE TEMP VIEW _pattern_accesses AS
SELECT m.*, _on_host(host, path) AS file,
       coalesce(p.process, '?') AS process, coalesce(comm, '?') || '[' || tid || ']' AS thread, {key} AS key
FROM _pattern_moves m LEFT JOIN _pattern_processes p USING (process_id)
WHERE bytes > 0 AND first_byte >= 0 AND (path = {path} OR path GLOB {path});

CREATE OR REPLACE TEMP TABLE _pattern_files AS
SELECT row_number() OVER (ORDER BY file) - 1 AS number, file, max(size) AS size FROM _pattern_accesses GROUP BY file;
)sql";

constexpr const char* kGroups = R"sql(
SELECT access, key, CASE WHEN count(DISTINCT {who}) = 1 THEN min({who}) ELSE count(DISTINCT {who}) || ' {who_words}' END,
       count(DISTINCT process_id), count(DISTINCT thread_id), count(DISTINCT file), count(*) FILTER (WHERE NOT offset_certain)
FROM _pattern_accesses GROUP BY access, key ORDER BY count(*) DESC, access, key)sql";

constexpr const char* kAccesses = R"sql(
SELECT access, key, f.number, first_byte, bytes, start_ns, fingerprint
FROM _pattern_accesses JOIN _pattern_files f USING (file) ORDER BY access, key, start_ns, event_id)sql";

constexpr const char* kMappings = R"sql(
SELECT count(*) FROM events WHERE name = 'mmap' AND error IS NULL AND (path = {path} OR path GLOB {path}))sql";

constexpr const char* kAlike = R"sql(
SELECT path FROM events WHERE bytes > 0 AND file_offset IS NOT NULL
AND regexp_extract(path, '[^/]*$') = regexp_extract({path}, '[^/]*$') GROUP BY path ORDER BY sum(bytes) DESC, path LIMIT 3)sql";

std::string_view key_of(PatternBy by) {
    return by == PatternBy::kProcess ? "process_id" : by == PatternBy::kThread ? "thread_id" : "0";
}

}  // namespace

PatternSql pattern_sql(std::string_view path, PatternBy by) {
    const bool is_thread = by == PatternBy::kThread;
    const auto filled = [&](const char* sql) {
        return fmt::format(fmt::runtime(sql),
                           fmt::arg("path", base::quoted_sql(path)),
                           fmt::arg("key", key_of(by)),
                           fmt::arg("who", is_thread ? "thread" : "process"),
                           fmt::arg("who_words", is_thread ? "threads" : "processes"));
    };
    return {filled(kPatternViews),
            "SELECT file, coalesce(size, 0) FROM _pattern_files ORDER BY number",
            filled(kGroups),
            kAccesses,
            filled(kMappings),
            filled(kAlike)};
}

}  // namespace dyetrace::reports
