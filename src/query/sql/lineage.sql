-- Who made whom, and who shares memory with whom: what carries bytes from process to process without a call that moves them.

-- statement processes: process, its parent or 0, when it began or 0.
SELECT DISTINCT ON (1) _of_kernel(process_id, kernel) AS process, coalesce(_of_kernel(parent_process_id, kernel), 0)::UBIGINT AS parent, coalesce(start_ns, 0)::UBIGINT AS start_ns
FROM processes JOIN internal.kernels ON host_index = process_id >> 54 ORDER BY 1, process_id

-- statement programs: process, when it began another program.
SELECT c.process_id, e.start_ns FROM internal.lone_calls e
JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall JOIN internal.lone_contexts c USING (host_index, context_id)
WHERE k.name IN ('execve', 'execveat') AND e.result = 0

-- statement memories: process, memory, since when it is shared. A file that nobody maps for writing carries nothing from one to another. An anonymous mapping is named by
-- the event that made it, a System V segment by its id; both get numbers that no object has.
WITH calls AS (
  SELECT k.name, e.host_index, c.kernel, c.process_id, e.start_ns + coalesce(e.duration_ns, 0) AS since_ns, e.handle_id, e.argument0, e.argument2, e.argument3,
    _event_id(e.host_index, e.cpu, e.sequence) AS event_id
  FROM internal.lone_calls e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  JOIN internal.lone_contexts c USING (host_index, context_id) WHERE k.name IN ('mmap', 'mmap2', 'shmat') AND e.result >= 0),
mapped AS (
  SELECT process_id, since_ns, argument2 & {mmap_protection.PROT_WRITE} <> 0 AS writes,
    CASE WHEN argument3 & {mmap_flags.MAP_ANONYMOUS} <> 0 THEN hash('anonymous', event_id)
      WHEN h.object_type IN ('file', 'memory') THEN hash('file', kernel, h.device, h.inode) END AS memory
  FROM calls LEFT JOIN internal.handles h USING (host_index, handle_id) WHERE name <> 'shmat' AND argument3 & {mmap_flags.MAP_SHARED} <> 0
  UNION ALL SELECT _task_id(kernel, process_start_ns, pid), time_ns, is_writable <> 0, hash('file', kernel, device, inode)
  FROM internal.raw_shared_mapping JOIN internal.kernels USING (host_index)
  UNION ALL SELECT process_id, since_ns, true, hash('segment', kernel, argument0 & 4294967295) FROM calls WHERE name = 'shmat')
SELECT process_id, memory, min(since_ns)::UBIGINT FROM mapped SEMI JOIN (SELECT memory FROM mapped GROUP BY 1 HAVING bool_or(writes)) USING (memory)
GROUP BY ALL
