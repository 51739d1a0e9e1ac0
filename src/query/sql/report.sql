-- The parts of `dyetrace report`. `scope`, `views`, `size`, `kept` and `sums` come first; the others ask what they made. Only `scope` has parameters.

-- statement scope: which events are looked at: those of $events, a table or a view; and of what is no event, what was between two times of CLOCK_BOOTTIME. Gives no rows.
CREATE OR REPLACE TEMP VIEW _report_events AS FROM $events;
CREATE OR REPLACE TEMP MACRO _report_sees(boot_ns) AS boot_ns BETWEEN $from_ns AND $to_ns

-- statement views: every call once, with the bytes of its parts if it has some, and with who did what to what, as people say it. What is small and asked for in
-- each part of the report is looked up once. Gives no rows.
CREATE OR REPLACE TEMP TABLE _report_processes AS
SELECT process_id, _on_host(name, process) AS process FROM internal.process_labels JOIN internal.hosts USING (host_index);
CREATE OR REPLACE TEMP TABLE _report_parts AS
SELECT parent_event_id, sum(bytes) AS bytes FROM _report_events WHERE parent_event_id IS NOT NULL GROUP BY 1;
CREATE OR REPLACE TEMP TABLE _report_types AS SELECT object_id, any_value(object_type) AS object_type FROM internal.handles GROUP BY 1;
-- Until when a thread was in a call that did not return, but exit: its own end, or that of the recording. (Joined by a CASE: with a condition on one side DuckDB compares each with each.)
CREATE OR REPLACE TEMP TABLE _report_ends AS
SELECT thread_id, coalesce(any_value(t.end_ns), any_value(r.end_ns)) AS end_ns
FROM internal.contexts LEFT JOIN (SELECT _task_id(host_index, thread_start_ns, tid) AS thread_id, max(end_ns)::BIGINT AS end_ns FROM internal.raw_thread_end GROUP BY 1) t USING (thread_id)
LEFT JOIN (SELECT host_index, max(time_ns)::BIGINT AS end_ns FROM internal.raw_accounting GROUP BY 1) r USING (host_index) GROUP BY thread_id;
CREATE OR REPLACE TEMP VIEW _report_calls AS
SELECT coalesce(p.process, '?') AS process, e.host, e.process_id, e.thread_id, e.comm, e.tid, e.name, e.class, e.error, e.path, e.path2, e.object_type, e.object_id, e.file_offset,
       epoch_ns(e.time) AS start_ns, coalesce(e.duration_ns, greatest(d.end_ns - e.start_ns, 0), 0) AS duration_ns, coalesce(e.on_cpu_ns, e.duration_ns, 0) AS on_cpu_ns,
       CASE WHEN e.error IS NULL THEN greatest(coalesce(e.bytes, m.bytes, 0), 0) ELSE 0 END AS bytes, e.state,
       e.transfer, _verb(e.name, e.transfer) AS verb,
       CASE WHEN e.name = 'io_uring_enter' THEN greatest(e.result, 0) WHEN e.name = 'io_uring_setup' AND e.error IS NULL THEN 0 END AS submitted,
       _target_label(e.name, e.object_type, e.path, e.local_port, e.remote_address, e.remote_port) AS target,
       CASE WHEN e.transfer IN ('copy_to', 'copy_from', 'tee') THEN t.object_type END AS object2_type,
       CASE WHEN object2_type IS NOT NULL THEN _target_label(e.name, object2_type, e.path2, e.local_port, e.remote_address, e.remote_port) END AS target2
FROM _report_events e LEFT JOIN _report_processes p ON p.process_id = e.process_id
LEFT JOIN _report_parts m ON m.parent_event_id = e.event_id
LEFT JOIN _report_types t ON t.object_id = e.object2_id
LEFT JOIN _report_ends d ON d.thread_id = CASE WHEN e.state = 'unfinished' AND NOT starts_with(e.name, 'exit') THEN e.thread_id END
WHERE e.kind = 'syscall' AND e.parent_event_id IS NULL;

-- statement size: how many calls there are.
SELECT count(*) FROM _report_events WHERE kind = 'syscall' AND parent_event_id IS NULL

-- statement kept: all calls of a small trace, kept for the sums and for the quantiles. Gives no rows.
CREATE OR REPLACE TEMP TABLE _report_kept AS FROM _report_calls;
CREATE OR REPLACE TEMP VIEW _report_calls AS FROM _report_kept

-- statement sums: calls that are alike, added up once. To plan a question about `events` takes 100 ms, and to look at ten million of them seconds: all is asked of
-- the sums but quantiles, which no sum has. Gives no rows.
CREATE OR REPLACE TEMP TABLE _report_sums AS
SELECT host, process_id, thread_id, comm, name, class, transfer, error, path, path2, object_type, object_id, target, object2_type, target2, bytes > 0 AS has_bytes,
       any_value(process) AS process, any_value(tid) AS tid, any_value(verb) AS verb,
       count(*) AS calls, count(*) FILTER (WHERE state = 'unfinished') AS unfinished, sum(submitted) AS submitted, sum(bytes) AS bytes, sum(duration_ns) AS total_ns,
       sum(on_cpu_ns) AS on_cpu_ns, max(duration_ns) AS max_ns, min(start_ns) AS begin_ns, max(start_ns + duration_ns) AS end_ns,
       min(file_offset) FILTER (bytes > 0) AS first_byte, max(file_offset + bytes) FILTER (bytes > 0) AS last_byte
FROM _report_calls GROUP BY ALL;
-- The same with what threads are called: by their own names, or where that is the one of the process (it may be cut, or that of an interpreter) as it is called.
CREATE OR REPLACE TEMP VIEW _report_threads AS
SELECT s.*, CASE WHEN process <> '?' AND (process_id, comm) IN (SELECT process_id, comm FROM internal.contexts WHERE tid = pid)
                 THEN regexp_replace(process, '\[\d+\]$', '[' || tid || ']') ELSE _on_host(host, comm || '[' || tid || ']') END AS thread
FROM _report_sums s WHERE thread_id IS NOT NULL;
-- The same for each object: a copy has two, and what one of them gives the other one takes. A copy within a file is counted once.
CREATE OR REPLACE TEMP VIEW _report_uses AS
SELECT host, process_id, process, verb, object_type, target, transfer, calls, bytes, total_ns FROM _report_sums
UNION ALL
SELECT host, process_id, process, verb, object2_type, target2, CASE transfer WHEN 'copy_from' THEN 'copy_to' ELSE 'copy_from' END,
       CASE WHEN target2 = target THEN 0 ELSE calls END, bytes, CASE WHEN target2 = target THEN 0 ELSE total_ns END
FROM _report_sums WHERE object2_type IS NOT NULL;
-- How long processes were there, and how long their threads were there without waiting for somebody else.
CREATE OR REPLACE TEMP TABLE _report_spans AS
SELECT process_id, max(end_ns) - min(begin_ns) AS span_ns, sum(thread_ns - waited_ns) AS busy_ns
FROM (SELECT process_id, max(end_ns) AS end_ns, min(begin_ns) AS begin_ns, max(end_ns) - min(begin_ns) AS thread_ns,
             coalesce(sum(total_ns - on_cpu_ns) FILTER (class IN ('wait', 'network', 'pipe') OR name IN ('wait4', 'waitid', 'waitpid', 'vfork')), 0) AS waited_ns
      FROM _report_sums GROUP BY process_id, thread_id) GROUP BY 1;
-- What the kernel makes up when it is asked, and devices: nobody chooses how they are used.
CREATE OR REPLACE TEMP MACRO _report_is_made_up(path) AS regexp_matches(coalesce(path, ''), '^/(proc|sys|dev)(/|$)');

-- statement overview: one row: calls, failed, unfinished, processes, threads, hosts, length in ns.
SELECT sum(calls), sum(calls) FILTER (WHERE is_failure(error, class)), sum(unfinished), count(DISTINCT process_id), count(DISTINCT thread_id),
       (SELECT count(*) FROM hosts), coalesce(max(end_ns) - min(begin_ns), 0) FROM _report_sums

-- statement activities: who did what to what, longest first: process, verb, target, calls, bytes, total_ns, p50, p99, max.
SELECT process, verb, target, count(*), sum(bytes), sum(duration_ns), quantile_disc(duration_ns, 0.5), quantile_disc(duration_ns, 0.99),
       max(duration_ns)
FROM _report_calls WHERE verb IS NOT NULL AND error IS NULL
GROUP BY process_id, process, verb, target ORDER BY sum(duration_ns) DESC, count(*) DESC, process, verb, target LIMIT 60

-- statement calls: system calls by name, longest first: name, calls, failed, bytes, total_ns, p50, p99, max.
SELECT coalesce(name, '?'), count(*), count(*) FILTER (WHERE is_failure(error, class)), sum(bytes), sum(duration_ns), quantile_disc(duration_ns, 0.5),
       quantile_disc(duration_ns, 0.99), max(duration_ns)
FROM _report_calls GROUP BY name ORDER BY sum(duration_ns) DESC, count(*) DESC, name LIMIT 12

-- statement files: files by bytes: file, process, processes, calls, read, written, total_ns. By process first: the one that called most is named.
SELECT _on_host(host, target), first(process ORDER BY calls DESC, process_id), count(process_id), sum(calls), sum(read_bytes), sum(written_bytes), sum(total_ns)
FROM (SELECT host, target, process_id, process, sum(calls) AS calls, sum(bytes) AS bytes, sum(bytes) FILTER (WHERE transfer IN ('read', 'copy_to')) AS read_bytes,
             sum(bytes) FILTER (WHERE transfer IN ('write', 'copy_from')) AS written_bytes, sum(total_ns) AS total_ns
      FROM _report_uses WHERE object_type IN ('file', 'block_device', 'memory') AND verb IS NOT NULL GROUP BY ALL)
GROUP BY host, target ORDER BY sum(bytes) DESC, sum(total_ns) DESC, host, target LIMIT 8

-- statement sockets: peers by bytes: peer, process, processes, calls, received, sent, total_ns. An address on the network is the same for all hosts; a path, a
-- loopback address or a port that is served is a host's own.
SELECT peer, first(process ORDER BY calls DESC, process_id), count(process_id), sum(calls), sum(received_bytes), sum(sent_bytes), sum(total_ns)
FROM (SELECT CASE WHEN target SIMILAR TO '[\[0-9].*' AND NOT starts_with(target, '127.') AND NOT starts_with(target, '[::1]') THEN target
                  ELSE _on_host(host, target) END AS peer,
             process_id, process, sum(calls) AS calls, sum(bytes) AS bytes, sum(bytes) FILTER (WHERE transfer IN ('read', 'copy_to')) AS received_bytes,
             sum(bytes) FILTER (WHERE transfer IN ('write', 'copy_from')) AS sent_bytes, sum(total_ns) AS total_ns
      FROM _report_uses WHERE object_type = 'socket' AND verb IS NOT NULL GROUP BY ALL)
GROUP BY peer ORDER BY sum(bytes) DESC, sum(total_ns) DESC, peer LIMIT 8

-- statement failures: what failed often: process, call, error, failed, calls, total_ns, length of the process in ns, waits left out. Who looks for what is made then,
-- makes sure that it is not there.
WITH made AS (SELECT DISTINCT host, unnest([path, path2]) AS path FROM _report_sums WHERE error IS NULL)
SELECT f.process, f.name, f.error, f.failed, t.calls, f.total_ns, busy_ns
FROM (SELECT process_id, process, name, error, sum(calls) AS failed, sum(total_ns) AS total_ns
      FROM _report_sums s WHERE error IS NOT NULL AND NOT starts_with(error, 'ERESTART') AND NOT _report_is_made_up(path)
        AND NOT (error = 'ENOENT' AND EXISTS (SELECT 1 FROM made m WHERE m.host = s.host AND m.path = s.path)) GROUP BY ALL HAVING sum(calls) >= 10) f
JOIN (SELECT process_id, name, sum(calls) AS calls FROM _report_sums GROUP BY ALL) t USING (process_id, name) JOIN _report_spans USING (process_id)
ORDER BY f.failed DESC, f.process, f.name, f.error LIMIT 2000

-- statement opens: what was opened again and again: process, path, opens, total_ns, length of the process in ns, waits left out.
SELECT process, path, sum(calls), sum(total_ns), any_value(busy_ns) FROM _report_sums JOIN _report_spans USING (process_id)
WHERE name IN ('open', 'openat', 'openat2', 'creat') AND error IS NULL AND path IS NOT NULL AND object_type = 'file' AND NOT _report_is_made_up(path)
GROUP BY process_id, process, path HAVING sum(calls) >= 10 ORDER BY sum(calls) DESC, process, path LIMIT 2000

-- statement small: many small transfers that a buffer could join: process, verb, target, calls, bytes, total_ns, length of the process in ns, waits left out. No buffer
-- joins what is far apart in a file, or read again, or made sure of by a sync; nor requests, each of which waits for its reply: a socket that is used both ways, more or less equally often.
WITH moved AS (
  SELECT process_id, process, target, verb, sum(calls) AS calls, sum(bytes) AS bytes, sum(total_ns) AS total_ns, bool_or(object_type = 'socket') AS is_socket,
         sum(last_byte - first_byte) AS extent
  FROM _report_sums WHERE verb IN ('read', 'wrote') AND error IS NULL AND has_bytes AND object_type IN ('file', 'block_device', 'memory', 'pipe', 'socket')
    AND NOT _report_is_made_up(path) GROUP BY ALL)
SELECT process, verb, target, m.calls, m.bytes, m.total_ns, busy_ns
FROM moved m JOIN _report_spans USING (process_id)
LEFT JOIN (SELECT process_id, target, CASE verb WHEN 'read' THEN 'wrote' ELSE 'read' END AS verb, calls AS back FROM moved) b USING (process_id, target, verb)
WHERE m.calls >= 1000 AND m.bytes < 512 * m.calls AND (extent IS NULL OR extent BETWEEN m.bytes / 4 AND m.bytes * 2) AND NOT (is_socket AND coalesce(back, 0) * 10 >= m.calls)
  AND NOT (verb = 'wrote' AND EXISTS (SELECT 1 FROM _report_sums s WHERE s.verb = 'synced' AND s.process_id = m.process_id AND s.target = m.target))
ORDER BY m.total_ns DESC, process, verb, target LIMIT 2000

-- statement sent_again: what TCP sent again: process, peer, segments, bytes, segments whose timer ran out, bytes sent at all.
WITH again AS (SELECT object_id, sum(segments) AS segments, sum(bytes) AS bytes, sum(segments) FILTER (WHERE congestion_state = 'loss') AS timers
               FROM retransmissions WHERE _report_sees(time_ns) GROUP BY object_id),
senders AS (SELECT process_id, process, target, object_id, sum(bytes) AS sent FROM _report_sums
            WHERE transfer IN ('write', 'copy_from') AND error IS NULL AND object_id IN (SELECT object_id FROM again) GROUP BY ALL)
SELECT process, target, sum(segments), sum(a.bytes), coalesce(sum(timers), 0), sum(sent) FROM senders s JOIN again a USING (object_id)
GROUP BY process_id, process, target HAVING sum(segments) >= 10 ORDER BY sum(segments) DESC, process, target LIMIT 2000

-- statement unseen_rings: who gave operations to an io_uring, where no event tells of them: process, operations, whether the kernel empties the ring without a call,
-- too (IORING_SETUP_SQPOLL: it is woken by calls when there was nothing for a while), which nobody counts. Who made a ring and gave nothing to it by a call has 0.
WITH rings AS (SELECT process_id, process, sum(submitted) AS submitted FROM _report_sums GROUP BY process_id, process
               HAVING sum(submitted) > 0 OR bool_or(name = 'io_uring_setup' AND error IS NULL)),
polled AS (SELECT DISTINCT c.process_id FROM internal.raw_syscall_event e JOIN internal.contexts c USING (host_index, context_id)
           JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall WHERE k.name = 'io_uring_enter' AND e.argument3 & {ring_enter_flags.IORING_ENTER_SQ_WAKEUP} <> 0)
SELECT process, submitted, submitted = 0 OR process_id IN (FROM polled) FROM rings ORDER BY submitted DESC, process LIMIT 2000

-- statement syncs: who waited for the disk: process, file, calls, total_ns, max_ns, length of the process in ns, whether it deleted the file.
WITH s AS (SELECT process_id, process, target, sum(calls) AS calls, sum(total_ns) AS total_ns, max(max_ns) AS max_ns
           FROM _report_sums WHERE verb = 'synced' GROUP BY ALL)
SELECT s.process, s.target, s.calls, s.total_ns, s.max_ns, p.span_ns, d.path IS NOT NULL
FROM s JOIN _report_spans p USING (process_id)
LEFT JOIN (SELECT DISTINCT process_id, path FROM _report_sums WHERE name IN ('unlink', 'unlinkat') AND error IS NULL) d
       ON d.process_id = s.process_id AND d.path = s.target
ORDER BY s.total_ns DESC, s.process, s.target LIMIT 2000

-- statement threads: what threads waited for: thread, length, time on a CPU, then blocked by files, network, pipes, waits, anything else, all in ns.
WITH blocked AS (SELECT *, total_ns - on_cpu_ns AS off_cpu_ns FROM _report_threads)
SELECT arg_max(thread, end_ns), max(end_ns) - min(begin_ns), sum(on_cpu_ns),
       sum(off_cpu_ns) FILTER (WHERE class IN ('file', 'metadata', 'block')),
       sum(off_cpu_ns) FILTER (WHERE class = 'network'), sum(off_cpu_ns) FILTER (WHERE class = 'pipe'),
       sum(off_cpu_ns) FILTER (WHERE class = 'wait' OR name IN ('wait4', 'waitid', 'waitpid', 'vfork')),
       sum(off_cpu_ns) FILTER (WHERE class NOT IN ('file', 'metadata', 'block', 'network', 'pipe', 'wait')
                               AND name NOT IN ('wait4', 'waitid', 'waitpid', 'vfork'))
FROM blocked GROUP BY thread_id ORDER BY sum(off_cpu_ns) DESC, thread_id LIMIT 8

-- statement blocked: threads that waited for files for half of their time: thread, length, time blocked by files, in ns, its own name.
WITH blocked AS (
  SELECT thread_id, arg_max(thread, end_ns) AS thread, arg_max(comm, end_ns) AS comm, max(end_ns) - min(begin_ns) AS span_ns,
         sum(total_ns - on_cpu_ns) FILTER (class IN ('file', 'metadata', 'block') AND object_type IS DISTINCT FROM 'anonymous' AND object_type IS DISTINCT FROM 'character_device') AS file_ns
  FROM _report_threads GROUP BY thread_id)
SELECT thread, span_ns, file_ns, comm FROM blocked WHERE file_ns * 2 >= span_ns ORDER BY file_ns DESC, thread LIMIT 2000

-- statement killed_processes: processes that a signal killed which tells of a mistake or of a limit: process, signal, address. Of every process that ends the trace
-- tells; those that a condition left out, or that live in another namespace, have no event in it.
SELECT p.process, d.exit_code & 127, arg_max(format('{:#x}', s.address), s.start_ns)
FROM processes d JOIN _report_processes p USING (process_id)
LEFT JOIN (SELECT c.process_id, e.signal, e.address, e.start_ns FROM internal.raw_signal_event e JOIN internal.contexts c USING (host_index, context_id)) s
       ON s.process_id = d.process_id AND s.signal = d.exit_code & 127
WHERE d.exit_code & 127 IN ({signal.SIGILL}, {signal.SIGTRAP}, {signal.SIGABRT}, {signal.SIGBUS}, {signal.SIGFPE}, {signal.SIGKILL}, {signal.SIGSEGV},
                             {signal.SIGXCPU}, {signal.SIGXFSZ}, {signal.SIGSYS}) AND _report_sees(d.end_ns)
      AND (d.process_id IN (SELECT process_id FROM _report_sums)
           OR d.process_id IN (SELECT c.process_id FROM internal.raw_signal_event e JOIN internal.contexts c USING (host_index, context_id)))
GROUP BY d.process_id, d.end_ns, p.process, d.exit_code ORDER BY d.end_ns, p.process LIMIT 2000

-- statement gaps: what was lost: host, reason, gaps, events, gaps of which the number is not known, length in ns.
SELECT host, reason, count(*), coalesce(sum(lost), 0), count(*) - count(lost), sum(end_ns - begin_ns)
FROM gaps GROUP BY ALL ORDER BY host, reason

-- statement coverage: what was not watched: host, source, state, reason.
SELECT host, source, state, reason FROM coverage WHERE state <> 'on' ORDER BY host, source LIMIT 20
