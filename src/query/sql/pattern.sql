-- How a file, or a set of files, was read and written, for `dyetrace pattern`. `views` comes first; the others ask what it made.
-- $path: a path or a glob, as the operator GLOB understands it. A call that takes from one file and gives to another is an access of both.

-- statement views: accesses and files. $key: process_id, thread_id or 0: whose accesses are put together. Gives no rows.
CREATE OR REPLACE TEMP VIEW _pattern_moves AS
SELECT CASE WHEN transfer IN ('write', 'copy_from') THEN 'write' ELSE 'read' END AS access,
       host, path, file_offset AS first_byte, bytes, object_size AS size, fingerprint, offset_certain, start_ns, duration_ns, event_id, process_id, thread_id, comm, tid
FROM events WHERE transfer IS NOT NULL
UNION ALL
SELECT CASE WHEN transfer = 'copy_from' THEN 'read' ELSE 'write' END,
       host, path2, file_offset2, bytes, NULL, fingerprint, offset2_certain, start_ns, duration_ns, event_id, process_id, thread_id, comm, tid
FROM events WHERE transfer IN ('copy_to', 'copy_from', 'tee');

CREATE OR REPLACE TEMP VIEW _pattern_processes AS SELECT process_id, process FROM internal.process_labels;

CREATE OR REPLACE TEMP VIEW _pattern_accesses AS
SELECT m.*, _on_host(host, path) AS file,
       coalesce(p.process, '?') AS process, coalesce(comm, '?') || '[' || tid || ']' AS thread, $key AS key
FROM _pattern_moves m LEFT JOIN _pattern_processes p USING (process_id)
WHERE bytes > 0 AND first_byte >= 0 AND (path = $path OR path GLOB $path);

CREATE OR REPLACE TEMP TABLE _pattern_files AS
SELECT row_number() OVER (ORDER BY file) - 1 AS number, file, max(size) AS size FROM _pattern_accesses GROUP BY file;

-- statement files: file, size; numbered from 0 in this order.
SELECT file, coalesce(size, 0) FROM _pattern_files ORDER BY number

-- statement groups: access, key, who, processes, threads, files, uncertain; most accesses first. $who: process or thread; $many: what several are called.
SELECT access, key, CASE WHEN count(DISTINCT $who) = 1 THEN min($who) ELSE count(DISTINCT $who) || ' ' || $many END,
       count(DISTINCT process_id), count(DISTINCT thread_id), count(DISTINCT file), count(*) FILTER (WHERE NOT offset_certain)
FROM _pattern_accesses GROUP BY access, key ORDER BY count(*) DESC, access, key

-- statement accesses: access, key, file, offset, bytes, start_ns, fingerprint, when it ended; by group, then in the order of time.
SELECT access, key, f.number, first_byte, bytes, start_ns, fingerprint, start_ns + coalesce(duration_ns, 0)
FROM _pattern_accesses JOIN _pattern_files f USING (file) ORDER BY access, key, start_ns, event_id

-- statement mappings: one number: how often it was mapped.
SELECT count(*) FROM events WHERE name = 'mmap' AND error IS NULL AND (path = $path OR path GLOB $path)
