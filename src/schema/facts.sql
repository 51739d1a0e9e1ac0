-- Internal tables of what a trace says besides its events, over internal.raw_*, and what ended waits. Hand-written; generate.py puts it into views.sql, before the views.
-- Facts, once each: announcements are repeated after a loss.
CREATE OR REPLACE TABLE internal.contexts AS
WITH names AS (SELECT host_index, network_namespace, arg_min(text, time_ns) AS network_name FROM internal.raw_namespace_name GROUP BY ALL)
SELECT host_index, context_id, any_value(pid) AS pid, any_value(tid) AS tid, any_value(ppid) AS ppid,
       any_value(pid_in_namespace) AS pid_in_namespace, any_value(comm) AS comm, any_value(exe) AS exe, any_value(uid) AS uid,
       any_value(cgroup_id) AS cgroup_id, any_value(_container_of(cgroup)) AS container,
       any_value(network_namespace) AS network_namespace, any_value(network_name) AS network_name, any_value(mount_namespace) AS mount_namespace,
       any_value(process_start_ns) AS process_start_ns, any_value(thread_start_ns) AS thread_start_ns,
       min(valid_from_ns) AS valid_from_ns,
       any_value(_task_id(host_index, process_start_ns, pid)) AS process_id,
       any_value(_task_id(host_index, thread_start_ns, tid)) AS thread_id,
       any_value(CASE WHEN parent_start_ns > 0 THEN _task_id(host_index, parent_start_ns, ppid) END) AS parent_process_id
FROM internal.raw_task_context LEFT JOIN names USING (host_index, network_namespace) GROUP BY host_index, context_id;

CREATE OR REPLACE TABLE internal.probed_places AS
SELECT host_index, probe_id, any_value(name) AS name, any_value(text) AS probe FROM internal.raw_probed_place GROUP BY host_index, probe_id;

-- Hosts that are one kernel, as its boot id says: `kernel` is the first of them. Two agents on it may record the same calls (table twins).
CREATE OR REPLACE TABLE internal.kernels AS
SELECT host_index, min(host_index) OVER same AS kernel, count(*) OVER same > 1 AS is_shared
FROM internal.hosts WINDOW same AS (PARTITION BY boot_id, CASE WHEN boot_id = '' THEN host_index END);

CREATE OR REPLACE TABLE internal.handles AS
WITH handle AS (
    SELECT host_index, handle_id, any_value(object_id) AS kernel_object_id, any_value(device) AS device, any_value(inode) AS inode,
           any_value(generation) AS generation, any_value(serial) AS serial, any_value(mount_id) AS mount_id, any_value(mode) AS mode,
           any_value(_object_type_name(object_type)) AS object_type, any_value(file_system) AS file_system,
           any_value(CASE WHEN flags & 4 <> 0 AND starts_with(path, '/') THEN '…' || path ELSE path END) AS path, min(valid_from_ns) AS valid_from_ns, -- cut at PATH_MAX
           any_value(flags & 2 <> 0) AS unlinked
    FROM internal.raw_handle GROUP BY host_index, handle_id),
objects AS (SELECT host_index, device, inode, generation, serial, min(kernel_object_id) AS kernel_object_id FROM handle GROUP BY ALL),
ends AS (
    SELECT host_index, handle_id, any_value(cookie) AS cookie, any_value(family) AS family, any_value(socket_type) AS socket_type,
           any_value(protocol) AS protocol, any_value(local_address) AS local_address, any_value(local_port) AS local_port,
           any_value(remote_address) AS remote_address, any_value(remote_port) AS remote_port,
           nullif(max(connection_id) & 9223372036854775807, 0) AS connection_id, any_value(network_namespace) AS network_namespace,
           any_value(_unix_name(path)) AS unix_path, any_value(_unix_name(path2)) AS unix_peer_path
    FROM internal.raw_socket GROUP BY host_index, handle_id)
SELECT h.host_index, h.handle_id, (h.host_index::UBIGINT << 54) | o.kernel_object_id AS object_id, h.device, h.inode, h.generation,
       h.serial, h.mount_id, h.mode, h.object_type, h.file_system, coalesce(s.unix_path, _readable_name(h.object_type, h.inode, h.path, h.file_system)) AS path, h.valid_from_ns, h.unlinked,
       s.cookie, s.family, s.socket_type, s.protocol, coalesce(_known_address(s.local_address, s.local_port), s.unix_path) AS local_address,
       nullif(s.local_port, 0) AS local_port, coalesce(_known_address(s.remote_address, s.remote_port), s.unix_peer_path) AS remote_address, nullif(s.remote_port, 0) AS remote_port, s.connection_id, s.network_namespace
FROM handle h JOIN objects o ON o.host_index = h.host_index AND o.device IS NOT DISTINCT FROM h.device AND o.inode IS NOT DISTINCT FROM h.inode
    AND o.generation IS NOT DISTINCT FROM h.generation AND o.serial IS NOT DISTINCT FROM h.serial
LEFT JOIN ends s ON s.host_index = h.host_index AND s.handle_id = h.handle_id;

-- Names that objects were seen under or must have had: below a directory that has another name from some moment on, through the same mount, all had another one from then on, unless they were unlinked
-- or had moved away before. `until_ns`: when the name was lost. n files below a directory renamed m times have n × m names: after 32 that follow from one that was seen, the one after is the last that
-- the directory is known by.
CREATE OR REPLACE VIEW internal.names AS
WITH RECURSIVE seen AS (SELECT host_index, mount_id, object_id, path, object_type, unlinked, valid_from_ns, handle_id FROM internal.handles WHERE path IS NOT NULL),
moved AS MATERIALIZED (
    SELECT host_index, mount_id, path AS folder, path_then AS folder_then, moved_ns, max(moved_ns) OVER all_names AS last_moved_ns, arg_max(path_then, moved_ns) OVER all_names AS last_folder
    FROM (SELECT *, lead(path) OVER later AS path_then, lead(valid_from_ns) OVER later AS moved_ns FROM seen WHERE object_type = 'directory' AND starts_with(path, '/') AND NOT unlinked
          WINDOW later AS (PARTITION BY object_id, mount_id ORDER BY valid_from_ns, handle_id))
    WHERE path_then <> path WINDOW all_names AS (PARTITION BY object_id, mount_id)),
lost AS (
    SELECT s.object_id, s.mount_id, s.path, e.start_ns AS lost_ns
    FROM internal.raw_syscall_event e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall JOIN seen s ON s.host_index = e.host_index AND s.handle_id = e.handle_id
    WHERE k.name IN ('unlink', 'unlinkat', 'rmdir') AND e.result >= 0 AND NOT e.names_base AND (SELECT count(*) FROM moved) > 0),
names AS (
    SELECT s.host_index, s.mount_id, s.object_id, s.path, s.unlinked, s.valid_from_ns, least(any_value(s.next_ns), min(l.lost_ns)) AS until_ns, 0 AS renames
    FROM (SELECT *, lead(valid_from_ns) OVER (PARTITION BY object_id, mount_id ORDER BY valid_from_ns, handle_id) AS next_ns FROM seen) s
    LEFT JOIN lost l ON l.object_id = s.object_id AND l.mount_id IS NOT DISTINCT FROM s.mount_id AND l.path = s.path AND l.lost_ns >= s.valid_from_ns
    GROUP BY ALL
    UNION ALL
    SELECT host_index, mount_id, object_id, CASE WHEN is_last THEN last_folder ELSE folder_then END || substr(path, length(folder) + 1), unlinked,
           CASE WHEN is_last THEN last_moved_ns ELSE moved_ns END, until_ns, renames + 1
    FROM (SELECT n.*, m.* EXCLUDE (host_index, mount_id, folder), n.renames = 32 AND (n.until_ns IS NULL OR m.last_moved_ns < n.until_ns) AS is_last
          FROM (SELECT *, unnest(_folders_of(path)) AS folder FROM names WHERE NOT unlinked AND renames <= 32) n
          ASOF JOIN moved m ON m.host_index = n.host_index AND m.mount_id IS NOT DISTINCT FROM n.mount_id AND m.folder = n.folder AND m.moved_ns > n.valid_from_ns)
    WHERE until_ns IS NULL OR moved_ns < until_ns
    QUALIFY row_number() OVER (PARTITION BY host_index, mount_id, object_id, path, valid_from_ns, until_ns ORDER BY moved_ns, folder) = 1)
SELECT host_index, object_id, path, mount_id, min(valid_from_ns) AS valid_from_ns, min(valid_from_ns) FILTER (starts_with(path, '/') AND NOT unlinked) AS taken_ns, max(valid_from_ns) AS last_ns
FROM names GROUP BY host_index, object_id, path, mount_id;

-- What each process is called, without its host: as the program that it ran last was called, and where several of a host ran it with different arguments by some of those too. `exe`: that program.
CREATE OR REPLACE VIEW internal.process_labels AS
WITH processes AS (
    SELECT process_id, any_value(host_index) AS host_index, any_value(pid) AS pid, arg_max(exe, valid_from_ns) AS exe,
           coalesce(arg_max(comm, valid_from_ns) FILTER (tid = pid), arg_max(comm, valid_from_ns)) AS comm, list(DISTINCT comm) FILTER (tid = pid) AS comms
    FROM internal.contexts GROUP BY process_id),
commands AS (
    SELECT _task_id(host_index, process_start_ns, pid) AS process_id, arg_max(command, valid_from_ns) AS command
    FROM internal.raw_task_context WHERE command IS NOT NULL GROUP BY 1),
known AS (
    SELECT process_id, host_index, pid, exe, coalesce(_called(_first_word(command), comms), CASE WHEN _is_in_memory(exe) THEN nullif(_first_word(command), '') END, _program(exe, comm)) AS program, coalesce(_command_words(command), '') AS words
    FROM processes LEFT JOIN commands USING (process_id)),
told AS (
    SELECT *, min(words) OVER same IS DISTINCT FROM max(words) OVER same AS is_ambiguous
    FROM known WINDOW same AS (PARTITION BY host_index, program))
SELECT process_id::BIGINT AS process_id, host_index, program || CASE WHEN is_ambiguous AND words <> '' THEN ' ' || words ELSE '' END || '[' || pid || ']' AS process, exe FROM told;

-- What ended waits: woken_by(event), woken_by_each(list of events). All of it is found by what a wait itself says, without a pass over the trace (docs/causality.md).
CREATE OR REPLACE MACRO _poll_calls() AS ['poll', 'ppoll', 'ppoll_time64', 'select', '_newselect', 'pselect6', 'pselect6_time64', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2'];
CREATE OR REPLACE MACRO _futex_calls() AS ['futex', 'futex_time64'];
CREATE OR REPLACE MACRO _sleep_calls() AS ['nanosleep', 'clock_nanosleep', 'clock_nanosleep_time64'];
CREATE OR REPLACE MACRO _polled_words(object_type, path, local_port, remote_address, remote_port) AS nullif(CASE
    WHEN object_type = 'socket' AND remote_port IS NULL AND local_port IS NOT NULL THEN 'clients of :' || local_port
    ELSE _target_label(NULL, object_type, path, local_port, remote_address, remote_port) END, '?');
CREATE OR REPLACE MACRO woken_by_each(waits) AS TABLE
WITH asked AS (SELECT DISTINCT id::UBIGINT AS wait, (id::UBIGINT >> 54)::USMALLINT AS host_index, ((id::UBIGINT >> 42) & 4095)::USMALLINT AS cpu, id::UBIGINT & 4398046511103 AS sequence
  FROM (SELECT unnest(waits) AS id)),
own AS (
  SELECT a.wait, a.host_index, a.cpu, a.sequence, c.process_id, c.thread_id, c.pid = c.pid_in_namespace AS is_outermost, e.result, e.start_ns, e.start_ns + coalesce(e.duration_ns, 0) AS end_ns,
         e.argument0, e.argument1, e.argument2, k.name LIKE 'epoll%' AS is_epoll, list_contains(_poll_calls(), k.name) AS is_poll, list_contains(_sleep_calls(), k.name) AS is_sleep,
         list_contains(_futex_calls(), k.name) AND e.argument1 & 127 IN (0, 9) AS is_futex, e.result IN (-4, -512, -513, -514, -516) AS is_interrupted
  FROM internal.raw_syscall_event e JOIN asked a ON e.host_index = a.host_index AND e.cpu = a.cpu AND e.sequence = a.sequence
  JOIN internal.contexts c ON c.host_index = e.host_index AND c.context_id = e.context_id JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE list_contains(list_concat(_poll_calls(), list_concat(_futex_calls(), _sleep_calls())), k.name)),
named AS (
  SELECT own.wait, CASE WHEN o.events <> 0 OR is_epoll THEN 'ready' ELSE 'not_ready' END AS rule, h.object_id, nullif(o.fd, -1) AS fd,
         CASE WHEN o.range_begin >= 0 AND is_epoll THEN (o.range_end - o.range_begin) || ' more' WHEN o.range_begin >= 0 THEN 'others' ELSE _polled_words(h.object_type, h.path, h.local_port, h.remote_address, h.remote_port) END AS what,
         nullif(_bit_words(p.words, o.events::UBIGINT), '') AS poll_events
  FROM internal.raw_event_object o JOIN own ON is_poll AND o.role = 0 AND o.host_index = own.host_index AND o.cpu = own.cpu AND o.parent_sequence = own.sequence
  JOIN internal.flag_sets p ON p.type = 'poll_events' LEFT JOIN internal.handles h ON h.host_index = o.host_index AND h.handle_id = o.handle_id),
wakes AS (
  SELECT own.wait, _event_id(e.host_index, e.cpu, e.sequence) AS event_id, e.start_ns, c.thread_id, c.comm || '[' || c.tid || ']' AS what
  FROM internal.raw_syscall_event e JOIN own ON is_futex AND own.result = 0 AND e.host_index = own.host_index AND e.argument0 = own.argument0 AND e.start_ns <= own.end_ns
  JOIN internal.contexts c ON c.host_index = e.host_index AND c.context_id = e.context_id AND c.process_id = own.process_id AND c.thread_id <> own.thread_id
  JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE list_contains(_futex_calls(), k.name) AND e.argument1 & 127 IN (1, 5, 10) AND e.result > 0 AND e.start_ns + coalesce(e.duration_ns, 0) >= own.start_ns),
ended AS (
  SELECT own.wait, c.thread_id, any_value(c.comm || '[' || c.tid || ']') AS what
  FROM internal.raw_thread_end t JOIN own ON is_futex AND is_outermost AND own.result IN (0, -11) AND own.argument1 & 128 = 0 AND t.host_index = own.host_index AND t.tid = own.argument2 & 4294967295
       AND t.end_ns BETWEEN own.start_ns AND own.end_ns
  JOIN internal.contexts c ON c.host_index = t.host_index AND c.process_id = own.process_id AND c.thread_id = _task_id(t.host_index, t.thread_start_ns, t.tid) GROUP BY ALL),
signals AS (
  SELECT own.wait, arg_min(_event_id(e.host_index, e.cpu, e.sequence), e.start_ns) AS event_id, min(e.start_ns) AS start_ns, any_value(own.thread_id) AS thread_id,
         arg_min(_argument_text('signal', s.signals, e.signal::UBIGINT)[2:-2], e.start_ns) AS what
  FROM internal.raw_signal_event e JOIN own ON is_interrupted AND e.host_index = own.host_index AND e.start_ns BETWEEN own.start_ns AND own.end_ns + 1000000000
  JOIN internal.contexts c ON c.host_index = e.host_index AND c.context_id = e.context_id AND c.thread_id = own.thread_id CROSS JOIN internal.signal_words s GROUP BY own.wait),
rows AS (
  SELECT wait, rule, NULL::UBIGINT AS event_id, NULL::UBIGINT AS start_ns, NULL::UBIGINT AS thread_id, object_id, fd, what, poll_events FROM named
  UNION ALL SELECT wait, CASE WHEN count(*) OVER (PARTITION BY wait) = 1 THEN 'wake' ELSE 'one_of' END, event_id, start_ns, thread_id, NULL, NULL, what, NULL FROM wakes
  UNION ALL SELECT wait, 'exit', NULL, NULL, thread_id, NULL, NULL, what, NULL FROM ended
  UNION ALL SELECT wait, 'signal', s.event_id, s.start_ns, s.thread_id, NULL, NULL, s.what, NULL FROM own LEFT JOIN signals s USING (wait) WHERE is_interrupted
  UNION ALL SELECT wait, 'timeout', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM own WHERE ((is_poll OR is_sleep) AND result = 0) OR (is_futex AND result = -110)
  UNION ALL SELECT wait, 'no_wait', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM own ANTI JOIN ended USING (wait) WHERE is_futex AND result = -11
  UNION ALL SELECT wait, 'unfinished', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM own WHERE result IS NULL)
SELECT * REPLACE (wait::BIGINT AS wait, event_id::BIGINT AS event_id, start_ns::BIGINT AS start_ns, thread_id::BIGINT AS thread_id, object_id::BIGINT AS object_id)
FROM rows ORDER BY wait, rule = 'not_ready', what, fd, start_ns;
CREATE OR REPLACE MACRO woken_by(wait_event) AS TABLE SELECT * EXCLUDE (wait) FROM woken_by_each([wait_event]);
