-- What the page's timeline is drawn from.

-- statement hosts: host, name.
SELECT host_index, name FROM internal.hosts ORDER BY name, 1

-- statement threads: thread, process, host, its end or 0, node, process, thread as words; in the order of the rows. As the view `events` calls the node, and what was
-- known last. A process is called by its program, a thread as it calls itself.
WITH facts AS (
  SELECT c.*, _node(o.node_by, o.name, o.network_namespace, c.container, c.network_namespace, c.network_name) AS node
  FROM internal.contexts c JOIN internal.hosts o USING (host_index)),
threads AS (
  SELECT thread_id, any_value(process_id) AS process_id, any_value(host_index) AS host_index, any_value(tid) AS tid,
         bool_or(tid = pid) AS is_main, arg_max(node, valid_from_ns) AS node, coalesce(arg_max(comm, valid_from_ns), '?') AS comm
  FROM facts GROUP BY thread_id),
ends AS (SELECT _task_id(host_index, thread_start_ns, tid) AS thread_id, max(end_ns) AS end_ns FROM internal.raw_thread_end GROUP BY 1)
SELECT t.thread_id, t.process_id, t.host_index, coalesce(e.end_ns, 0), t.node, p.process, t.comm || '[' || t.tid || ']'
FROM threads t JOIN internal.process_labels p USING (process_id) LEFT JOIN ends e USING (thread_id)
ORDER BY t.node, t.host_index, t.process_id, NOT t.is_main, t.thread_id

-- statement events: event, time, start_ns, duration, time on a CPU, thread, hash of the name, bits, fingerprint. The lowest four bits are the class; 16: it failed;
-- 32: it did not return. $condition: what `filter` wrote.
SELECT event_id, epoch_ns(time)::UBIGINT, start_ns, duration_ns, on_cpu_ns, thread_id, hash(name)::UBIGINT,
       (CASE class WHEN 'file' THEN {class.file} WHEN 'metadata' THEN {class.metadata} WHEN 'network' THEN {class.network} WHEN 'pipe' THEN {class.pipe}
                   WHEN 'process' THEN {class.process} WHEN 'memory' THEN {class.memory} WHEN 'wait' THEN {class.wait} WHEN 'block' THEN {class.block} ELSE {class.other} END
        + CASE WHEN is_failure(error, class) THEN 16 ELSE 0 END + CASE WHEN state = 'unfinished' THEN 32 ELSE 0 END)::UBIGINT, fingerprint
FROM events WHERE parent_event_id IS NULL AND ($condition)

-- statement event_count: about how many there are.
SELECT count(*) FROM internal.raw_syscall_event

-- statement names: hash, name, of all events that there may be.
SELECT DISTINCT hash(name), name
FROM (SELECT name FROM internal.syscalls UNION SELECT name FROM internal.raw_log_event UNION SELECT 'signal_deliver' UNION SELECT name FROM internal.raw_probed_place) WHERE name IS NOT NULL ORDER BY 2

-- statement gaps: host, begin, end, events lost, reason. Those of a host and a reason that begin in the same $step_ns are one. $unknown: how many is not known.
SELECT host_index, min(begin_ns), max(end_ns), sum(CASE WHEN lost = $unknown THEN 0 ELSE lost END)::UBIGINT, _gap_reason_name(reason)
FROM internal.raw_gap GROUP BY host_index, reason, begin_ns // $step_ns ORDER BY ALL

-- statement thread_facts: key, hash: what is known of hosts and threads. Keys of 9 bits of host and 32 of id; the highest two bits say what of. All hosts are one key: if
-- one joins, nothing is where it was.
SELECT (1::UBIGINT << 62), hash(list(h ORDER BY host_index))::UBIGINT FROM internal.hosts h
UNION ALL SELECT (host_index::UBIGINT << 32) | context_id, hash(thread_id)::UBIGINT FROM internal.contexts

-- statement all_facts: the same with all of threads, and of objects, which a condition may ask for.
SELECT (1::UBIGINT << 62), hash(list(h ORDER BY host_index))::UBIGINT FROM internal.hosts h
UNION ALL SELECT (host_index::UBIGINT << 32) | context_id, hash(c)::UBIGINT FROM internal.contexts c
UNION ALL SELECT (1::UBIGINT << 63) | (host_index::UBIGINT << 32) | handle_id, hash(h)::UBIGINT FROM internal.handles h

-- statement facts_lost: one number: how often facts were lost, or may have been: they can still come, with what repeats them.
SELECT ((SELECT count(*) FROM internal.raw_accounting WHERE facts_lost > 0)
        + (SELECT count(*) FROM internal.raw_gap
           WHERE reason IN ({gap_reason.damaged_block}, {gap_reason.damaged_file}, {gap_reason.ring_damaged})))::UBIGINT
