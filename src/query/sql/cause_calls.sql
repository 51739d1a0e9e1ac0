-- What the rules of causes look at (docs/causality.md).

-- statement places: a CTE: where each event stands. A call that never returned stands where it began: nothing reached it.
places AS (
  SELECT _event_id(e.host_index, e.cpu, e.sequence) AS event, c.thread_id AS thread, e.start_ns AS begin_ns, e.start_ns + coalesce(e.duration_ns, 0) AS end_ns
  FROM internal.lone_calls e JOIN internal.lone_contexts c USING (host_index, context_id)
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns + coalesce(e.duration_ns, 0)
  FROM internal.lone_parts e JOIN internal.lone_contexts c USING (host_index, context_id)
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns
  FROM internal.lone_signals e JOIN internal.lone_contexts c USING (host_index, context_id)
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns
  FROM internal.raw_log_event e JOIN internal.lone_contexts c USING (host_index, context_id))

-- statement places_alone: event, thread, begin_ns, end_ns.
WITH @cause_calls_places SELECT event, thread, begin_ns, end_ns FROM places

-- statement all: the calls, for a condition on the call `e` and what it is called, `k`.
SELECT k.name, _transfer(k.transfer, e.open_flags, _message_flags(k.message_flags_at, e.argument2, e.argument3)) AS transfer,
    _event_id(e.host_index, e.cpu, e.sequence) AS event, c.thread_id AS thread, c.process_id AS process, e.start_ns AS begin_ns,
    e.start_ns + coalesce(e.duration_ns, 0) AS end_ns, c.kernel AS host_index, e.result, e.state, e.fd, e.open_flags, e.requested, e.argument0, e.argument1, e.argument2,
    e.argument3, e.left_nothing, e.names_base, e.names_base2, e.path, e.path2, h.path AS object_path, h2.path AS object2_path, e.handle_id IS NULL AS is_nameless,
    e.handle2_id IS NULL AS is_nameless2, c.mount_namespace, c.pid, c.pid_in_namespace,
    CASE WHEN e.target_start_ns > 0 THEN _task_id(c.kernel, e.target_start_ns, e.target_tid) END AS target,
    CASE WHEN NOT e.names_base THEN h.object_id END AS object, h.object_type, h.family, h.socket_type
  FROM internal.lone_calls e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  JOIN internal.lone_contexts c USING (host_index, context_id)
  LEFT JOIN internal.lone_handles h ON h.host_index = e.host_index AND h.handle_id = e.handle_id
  LEFT JOIN internal.lone_handles h2 ON h2.host_index = e.host_index AND h2.handle_id = e.handle2_id
