-- What two agents on one kernel both recorded. Its calls are found by time: a thread makes one at a time, so two records of one thread that overlap are of one call.

-- statement shared: hosts that are one kernel with others: kernel, host, name.
SELECT k.kernel::UBIGINT, k.host_index::UBIGINT, o.name FROM internal.kernels k JOIN internal.hosts o USING (host_index) WHERE k.is_shared ORDER BY 1, 2

-- statement make: has the table made; gives no rows.
SELECT 1 FROM internal.derived_twins LIMIT 0

-- statement groups: CTEs up to `groups`: records of the same call, and of the same signal, of one thread, with the number of the call. A call that never returned lasts until the next
-- one; of a signal, which has no length, two records lie within a millisecond. The n-th record of each host is of the same.
tasks AS (SELECT c.host_index, context_id, kernel, tid, thread_start_ns FROM internal.contexts c JOIN internal.kernels k USING (host_index) WHERE k.is_shared),
records AS (
  SELECT kernel, tid, thread_start_ns, false AS is_signal, e.abi::UINTEGER << 16 | e.syscall AS what, e.host_index, e.cpu, e.sequence, e.start_ns, e.start_ns + e.duration_ns AS end_ns,
    e.handle_id, e.handle2_id
  FROM internal.raw_syscall_event e JOIN tasks USING (host_index, context_id)
  UNION ALL
  SELECT kernel, tid, thread_start_ns, true, e.signal, e.host_index, e.cpu, e.sequence, e.start_ns, e.start_ns + 1000000, NULL, NULL
  FROM internal.raw_signal_event e JOIN tasks USING (host_index, context_id)),
ended AS (SELECT * REPLACE (coalesce(end_ns, lead(start_ns) OVER same, start_ns) AS end_ns) FROM records
  WINDOW same AS (PARTITION BY kernel, tid, thread_start_ns, is_signal, what ORDER BY start_ns, host_index, cpu, sequence)),
begun AS (SELECT *, coalesce(start_ns > max(end_ns) OVER (same ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), true)::UINTEGER AS begins FROM ended
  WINDOW same AS (PARTITION BY kernel, tid, thread_start_ns, is_signal, what ORDER BY start_ns, host_index, cpu, sequence)),
numbered AS (SELECT *, sum(begins) OVER (PARTITION BY kernel, tid, thread_start_ns, is_signal, what ORDER BY start_ns, host_index, cpu, sequence ROWS UNBOUNDED PRECEDING) AS number FROM begun),
ranked AS (SELECT *, row_number() OVER (PARTITION BY kernel, tid, thread_start_ns, is_signal, what, number, host_index ORDER BY start_ns) AS turn FROM numbered),
groups AS (SELECT *, first_value(host_index) OVER same AS first_host, first_value(cpu) OVER same AS first_cpu, first_value(sequence) OVER same AS first_sequence,
    first_value(handle_id) OVER same AS first_handle, first_value(handle2_id) OVER same AS first_handle2
  FROM ranked WINDOW same AS (PARTITION BY kernel, tid, thread_start_ns, is_signal, what, number, turn ORDER BY host_index))

-- statement rows: kind, id, first id. Objects are the same if twins acted on them, if they are sockets with one cookie, or inodes with one generation.
WITH @twins_groups,
twins AS MATERIALIZED (SELECT * FROM groups WHERE host_index <> first_host),
events AS (
  SELECT _event_id(host_index, cpu, sequence) AS id, _event_id(first_host, first_cpu, first_sequence) AS first_id FROM twins
  UNION ALL
  SELECT _event_id(p.host_index, p.cpu, p.sequence), _event_id(f.host_index, f.cpu, f.sequence)
  FROM twins t JOIN internal.raw_part_event p ON p.host_index = t.host_index AND p.cpu = t.cpu AND p.parent_sequence = t.sequence
  JOIN internal.raw_part_event f ON f.host_index = t.first_host AND f.cpu = t.first_cpu AND f.parent_sequence = t.first_sequence AND f.part = p.part WHERE NOT t.is_signal),
handles AS (SELECT h.*, k.kernel FROM internal.handles h JOIN internal.kernels k USING (host_index) WHERE k.is_shared),
acted AS (
  SELECT host_index, handle_id, first_host, first_handle FROM twins WHERE handle_id IS NOT NULL AND first_handle IS NOT NULL
  UNION SELECT host_index, handle2_id, first_host, first_handle2 FROM twins WHERE handle2_id IS NOT NULL AND first_handle2 IS NOT NULL),
same AS (
  SELECT h.object_id AS id, f.object_id AS first_id FROM acted a JOIN internal.handles h ON h.host_index = a.host_index AND h.handle_id = a.handle_id
  JOIN internal.handles f ON f.host_index = a.first_host AND f.handle_id = a.first_handle AND f.object_type = h.object_type
  UNION SELECT object_id, min(object_id) OVER (PARTITION BY kernel, network_namespace, cookie) FROM handles WHERE cookie > 0
  UNION SELECT object_id, min(object_id) OVER (PARTITION BY kernel, device, inode, generation) FROM handles WHERE object_type IN ('file', 'directory') AND generation > 0 AND serial = 0),
objects AS (SELECT id, min(first_id) AS first_id FROM same GROUP BY 1 HAVING min(first_id) < id)
SELECT {item_kind.event}::UBIGINT, id, first_id FROM events
UNION ALL
SELECT {item_kind.object}::UBIGINT, o.id, coalesce(f.first_id, o.first_id) FROM objects o LEFT JOIN objects f ON f.id = o.first_id
