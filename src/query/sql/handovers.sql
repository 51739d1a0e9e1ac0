-- What one call may hand over to another one without bytes: a signal, a wake-up, a lock, a count.

-- statement calls: a CTE: the calls that do.
calls AS (
  @cause_calls_all
  WHERE k.name IN ('kill', 'tkill', 'tgkill', 'pidfd_send_signal', 'futex', 'futex_time64', 'eventfd', 'eventfd2', 'read', 'write', 'flock', 'fcntl', 'fcntl64', 'close'))

-- statement locks: CTEs up to `locks`: who locks bytes of which file. `holder` has them, a descriptor or, by fcntl without F_OFD_, a process, whose locks all go with any
-- descriptor of the file that it closes. What ends with a process, ends after the last event of its last thread.
file_locks AS (
  SELECT event, thread, process, begin_ns, end_ns, object, hash('lock', object) AS item, hash(process, fd) AS holder,
    CASE argument1 & ({flock_operation.LOCK_SH} | {flock_operation.LOCK_EX} | {flock_operation.LOCK_UN})::UBIGINT WHEN {flock_operation.LOCK_SH} THEN {ActKind.kLockedShared} WHEN {flock_operation.LOCK_EX} THEN {ActKind.kLockedExclusive} ELSE {ActKind.kUnlocked} END AS kind, 0::UBIGINT AS range_begin, NULL::UBIGINT AS range_end
  FROM calls WHERE name = 'flock' AND result = 0
  UNION ALL SELECT c.event, thread, process, begin_ns, end_ns, object, hash('range lock', object),
    CASE WHEN argument1 & 4294967295 IN ({fcntl_command.F_OFD_SETLK}, {fcntl_command.F_OFD_SETLKW}) THEN hash(process, c.fd) ELSE hash(process) END,
    CASE l.role WHEN {event_role.read_locked} THEN {ActKind.kLockedShared} WHEN {event_role.write_locked} THEN {ActKind.kLockedExclusive} ELSE {ActKind.kUnlocked} END, l.range_begin::UBIGINT, nullif(l.range_end, -1)::UBIGINT
  FROM calls c JOIN internal.raw_event_object l ON _event_id(l.host_index, l.cpu, l.parent_sequence) = c.event
  WHERE name IN ('fcntl', 'fcntl64') AND l.role IN ({event_role.read_locked}, {event_role.write_locked}, {event_role.unlocked}) AND l.range_begin >= 0),
lock_holders AS (SELECT DISTINCT process, object, item, holder FROM file_locks),
task_ends AS (SELECT process_id AS process, thread_id AS thread, end_ns FROM internal.lone_thread_ends),
process_ends AS (SELECT process, arg_max(thread, end_ns) AS thread, max(end_ns) AS end_ns FROM task_ends SEMI JOIN lock_holders USING (process)
  ANTI JOIN (SELECT process_id AS process FROM internal.lone_contexts ANTI JOIN task_ends t ON t.thread = thread_id) USING (process) GROUP BY 1),
last_events AS (SELECT thread, arg_max(event, begin_ns) AS event, max(end_ns) AS end_ns FROM places SEMI JOIN process_ends USING (thread) GROUP BY 1),
locks AS (
  SELECT event, thread, begin_ns, end_ns, kind, item, holder, range_begin, range_end FROM file_locks
  UNION ALL SELECT event, thread, begin_ns, end_ns, {ActKind.kUnlocked}, item, holder, 0, NULL FROM calls c JOIN lock_holders USING (process, object)
  WHERE name = 'close' AND result = 0 AND holder IN (hash(process, fd), hash(process))
  UNION ALL SELECT l.event, thread, greatest(p.end_ns, l.end_ns), greatest(p.end_ns, l.end_ns), {ActKind.kUnlocked}, item, holder, 0, NULL
  FROM lock_holders JOIN process_ends p USING (process) JOIN last_events l USING (thread))

-- statement acts: rows of numbers for each begin and end of a call (HandoverColumn), in order of time. What a signal says of its sender is a number in the receiver's pid
-- namespace. A signal whose code is 0 (SI_USER), -1 (SI_QUEUE) or -6 (SI_TKILL) was sent by a process; from 32 on signals are queued. What is left of a futex' operation
-- without FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME is below 128.
WITH @cause_calls_places,
@handovers_calls,
@handovers_locks,
signals AS (SELECT event, thread, begin_ns, end_ns, pid, pid_in_namespace, target,
    CASE name WHEN 'tgkill' THEN argument2 ELSE argument1 END & 127 AS signal
  FROM calls WHERE name IN ('kill', 'tkill', 'tgkill', 'pidfd_send_signal') AND result = 0 AND target IS NOT NULL),
acts AS (
  SELECT event, thread, begin_ns, end_ns, CASE WHEN signal < 32 THEN {ActKind.kSignalSent} ELSE {ActKind.kQueuedSignalSent} END AS kind,
    hash('signal', target, signal, false, pid) AS item, 0::UBIGINT AS holder, 0::UBIGINT AS range_begin, NULL::UBIGINT AS range_end FROM signals WHERE signal > 0
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE WHEN signal < 32 THEN {ActKind.kSignalSent} ELSE {ActKind.kQueuedSignalSent} END,
    hash('signal', target, signal, true, pid_in_namespace), 0, 0, NULL FROM signals WHERE signal > 0
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns,
    CASE WHEN e.signal < 32 THEN {ActKind.kSignalDelivered} ELSE {ActKind.kQueuedSignalDelivered} END,
    hash('signal', c.process_id, e.signal::UBIGINT, c.pid <> c.pid_in_namespace, e.sender_pid), 0, 0, NULL
  FROM internal.lone_signals e JOIN internal.lone_contexts c USING (host_index, context_id) WHERE e.code IN (0, -1, -6) AND e.sender_pid IS NOT NULL
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE WHEN argument1 & 127 IN ({futex_operation.FUTEX_WAIT}, {futex_operation.FUTEX_WAIT_BITSET}) THEN {ActKind.kFutexWaited} ELSE {ActKind.kFutexWoke} END,
    hash('futex', process, argument0), 0, 0, NULL
  FROM calls WHERE name IN ('futex', 'futex_time64') AND ((argument1 & 127 IN ({futex_operation.FUTEX_WAIT}, {futex_operation.FUTEX_WAIT_BITSET}) AND result = 0) OR (argument1 & 127 IN ({futex_operation.FUTEX_WAKE}, {futex_operation.FUTEX_WAKE_OP}, {futex_operation.FUTEX_WAKE_BITSET}) AND result > 0))
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE WHEN argument0 & 4294967295 = 0 THEN {ActKind.kCounterMade} ELSE {ActKind.kCounterMadeFull} END,
    hash('counter', object), CASE WHEN name = 'eventfd2' THEN argument1 & {eventfd_flags.EFD_SEMAPHORE} ELSE 0 END, 0, NULL
  FROM calls WHERE name IN ('eventfd', 'eventfd2') AND result >= 0
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE name WHEN 'write' THEN {ActKind.kCounterAdded} ELSE {ActKind.kCounterRead} END, hash('counter', object), left_nothing::UBIGINT, 0, NULL
  FROM calls WHERE name IN ('read', 'write') AND result = 8 AND object_type = 'anonymous' AND object_path = 'anon_inode:[eventfd]'
  UNION ALL FROM locks)
SELECT is_end::UBIGINT, event, thread, begin_ns, end_ns, kind::UBIGINT, item, holder::UBIGINT, range_begin::UBIGINT, range_end::UBIGINT FROM acts, (VALUES (false), (true)) s(is_end)
ORDER BY CASE WHEN is_end THEN end_ns ELSE begin_ns END, is_end, event
