-- What two agents on one kernel both recorded. Its calls are found by time: a thread makes one at a time, so two records of one thread that overlap are of one call.

-- statement shared: hosts that are one kernel with others: kernel, host, name.
SELECT k.kernel::UBIGINT, k.host_index::UBIGINT, o.name FROM internal.kernels k JOIN internal.hosts o USING (host_index) WHERE k.is_shared ORDER BY 1, 2

-- statement make: has the table made; gives no rows.
SELECT 1 FROM internal.derived_twins LIMIT 0

-- statement events: ids of events that are twins.
SELECT id::UBIGINT FROM internal.derived_twins WHERE kind = {item_kind.event}

-- statement records: thread, what, start, end, id, handle, handle2, part, the id of the part; by thread, what, start and id, a call before its parts. Of a call whose
-- beginning was before the recording only the end is known, which is the start, too. Of a signal, which has no length, two records lie within a millisecond. Each is sorted in as few bytes as it has, for there are as many as events.
WITH tasks AS (SELECT c.host_index, context_id, dense_rank() OVER (ORDER BY kernel, tid, thread_start_ns)::UINTEGER AS thread
  FROM internal.contexts c JOIN internal.kernels k USING (host_index) WHERE k.is_shared),
calls AS NOT MATERIALIZED (SELECT thread, (abi::UINTEGER << 16 | syscall)::UINTEGER AS what, start_ns, CASE WHEN entry_missed AND state <> {state.unfinished} THEN start_ns ELSE start_ns + duration_ns END AS end_ns, host_index, cpu, sequence, handle_id, handle2_id
  FROM internal.raw_syscall_event JOIN tasks USING (host_index, context_id)),
records AS NOT MATERIALIZED (
  SELECT thread, what, start_ns, end_ns, _event_id(host_index, cpu, sequence) AS id, handle_id, handle2_id, NULL::UINTEGER AS part, NULL::UBIGINT AS part_id FROM calls
  UNION ALL
  SELECT thread, what, c.start_ns, NULL, _event_id(p.host_index, p.cpu, p.parent_sequence), NULL, NULL, p.part, _event_id(p.host_index, p.cpu, p.sequence)
  FROM internal.raw_part_event p JOIN calls c ON c.host_index = p.host_index AND c.cpu = p.cpu AND c.sequence = p.parent_sequence
  UNION ALL
  SELECT thread, (1::UINTEGER << 31 | signal)::UINTEGER, start_ns, start_ns + 1000000, _event_id(s.host_index, cpu, sequence), NULL, NULL, NULL, NULL
  FROM internal.raw_signal_event s JOIN tasks USING (host_index, context_id))
SELECT thread::UBIGINT, what::UBIGINT, start_ns::UBIGINT, end_ns::UBIGINT, id::UBIGINT, handle_id::UBIGINT, handle2_id::UBIGINT, part::UBIGINT, part_id::UBIGINT
FROM (FROM records ORDER BY thread, what, start_ns, id, part NULLS FIRST)

-- statement handles: host, handle, object, type, of kernels that several hosts recorded.
SELECT host_index::UBIGINT, handle_id::UBIGINT, object_id::UBIGINT, dense_rank() OVER (ORDER BY object_type)::UBIGINT FROM internal.handles JOIN internal.kernels k USING (host_index) WHERE k.is_shared

-- statement alike: object, the first with its cookie (sockets), its generation (inodes) or the number that the kernel counted up for it (pipes and sockets, if no other one of a host had it:
-- the kernel begins anew after 2^32).
WITH handles AS (SELECT h.*, k.kernel FROM internal.handles h JOIN internal.kernels k USING (host_index) WHERE k.is_shared)
SELECT object_id::UBIGINT, min(object_id) OVER (PARTITION BY kernel, network_namespace, cookie)::UBIGINT FROM handles WHERE cookie > 0
UNION SELECT object_id::UBIGINT, min(object_id) OVER (PARTITION BY kernel, device, inode, generation)::UBIGINT
FROM handles WHERE object_type IN ('file', 'directory', 'pipe') AND generation > 0 AND serial = 0
UNION SELECT object_id::UBIGINT, min(object_id) OVER (PARTITION BY kernel, file_system, inode)::UBIGINT
FROM (SELECT kernel, host_index, file_system, inode, min(object_id) AS object_id FROM handles WHERE file_system IN ('pipefs', 'sockfs') GROUP BY ALL HAVING count(DISTINCT object_id) = 1)
