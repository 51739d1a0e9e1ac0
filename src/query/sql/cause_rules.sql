-- All that may be a cause: tables that are made one after the other, with a statement for each rule; in one for all of them DuckDB joins the calls to one another before it leaves
-- out what no rule asks for. They need flows and handovers. The rules are those of docs/causality.md, and give from_event, from_thread, from_at, to_event, to_thread, to_at, rule.

-- statement make_places: where each event stands.
CREATE OR REPLACE TABLE internal.cause_places AS WITH @cause_calls_places FROM places

-- statement make_threads: the first and the last event of each thread.
CREATE OR REPLACE TABLE internal.cause_threads AS
SELECT thread, arg_min(event, begin_ns) AS first_event, min(begin_ns) AS first_ns, arg_max(event, begin_ns) AS last_event, max(end_ns) AS last_ns
FROM internal.cause_places GROUP BY thread

-- statement make_calls: those that rules other than the ones of flows look at. Only waits on futexes that are not private count: who joins a thread waits so. What is left of the
-- operation without FUTEX_CLOCK_REALTIME is below 256.
CREATE OR REPLACE TABLE internal.cause_calls AS WITH calls AS (
  @cause_calls_all
  WHERE (k.transfer IN ('read', 'copy_to') AND e.bytes = 0) OR (k.name IN ('futex', 'futex_time64', 'clone', 'clone3', 'fork', 'vfork', 'wait4', 'waitid', 'waitpid', 'execve',
      'execveat', 'connect', 'accept', 'accept4', 'shutdown', 'close', 'open', 'openat', 'openat2', 'creat', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink',
      'unlinkat', 'rmdir', 'mkdir', 'mkdirat', 'symlink', 'symlinkat', 'mknod', 'mknodat')
    AND (k.name NOT IN ('futex', 'futex_time64') OR
      (e.argument1 & 255 IN ({futex_operation.FUTEX_WAIT}, {futex_operation.FUTEX_WAIT_BITSET}) AND e.result IN (0, -{errors.EAGAIN})))))
FROM calls

-- statement make_found: what the rules find.
CREATE OR REPLACE TABLE internal.cause_found (from_event UBIGINT, from_thread UBIGINT, from_at UBIGINT, to_event UBIGINT, to_thread UBIGINT, to_at UBIGINT, rule UTINYINT)

-- statement looked_at: what stands before a rule.
WITH places AS (FROM internal.cause_places), calls AS (FROM internal.cause_calls)

-- statement of_bytes: what left a call did so after it began, what reached it before it ended. A call that passes bytes on does so in their order: what reached it as byte p is
-- after all that left it before p. The moments of its bytes are spread over its time, in this order.
@contradictions_unlike,
passing AS (SELECT _event_id(e.host_index, e.cpu, e.sequence) AS event, e.bytes, coalesce(e.duration_ns, 0) AS duration_ns
  FROM internal.lone_calls e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE k.transfer IN ('copy_to', 'copy_from', 'tee') AND e.bytes > 0 AND e.duration_ns > 0),
bytes_moved AS (
  SELECT a.event AS from_event, a.thread AS from_thread, CASE WHEN s.event IS NULL THEN a.begin_ns
      ELSE a.begin_ns + 1 + ((f.from_position + f.bytes - 1)::HUGEINT * (s.duration_ns - 1) // s.bytes)::UBIGINT END AS from_at,
    b.event AS to_event, b.thread AS to_thread, CASE WHEN t.event IS NULL THEN b.end_ns
      ELSE b.begin_ns + ((f.to_position::HUGEINT * (t.duration_ns - 1) + t.bytes - 1) // t.bytes)::UBIGINT END AS to_at,
    CASE f.rule WHEN {flow_rule.tcp} THEN {cause_rule.tcp} WHEN {flow_rule.pipe} THEN {cause_rule.pipe} WHEN {flow_rule.unix} THEN {cause_rule.unix} WHEN {flow_rule.queue} THEN {cause_rule.queue} ELSE {cause_rule.file} END AS rule
  FROM internal.derived_flows f JOIN places a ON a.event = f.from_event JOIN places b ON b.event = f.to_event
  LEFT JOIN passing s ON s.event = f.from_event LEFT JOIN passing t ON t.event = f.to_event
  ANTI JOIN unlike u ON u.from_event = f.from_event AND u.to_event = f.to_event
  WHERE (f.rule <= {flow_rule.file} OR f.rule = {flow_rule.queue}) AND f.certainty = {certainty.certain}),
handed_over AS (
  SELECT a.event, a.thread, a.begin_ns, b.event, b.thread, b.end_ns, f.rule
  FROM internal.derived_handovers f JOIN places a ON a.event = f.from_event JOIN places b ON b.event = f.to_event)

-- statement bytes_moved: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_bytes
FROM bytes_moved

-- statement handed_over: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_bytes
FROM handed_over

-- statement of_tasks: a thread that has ended left everything after its last event. What a new one does is after the call that made it; `- 1`: it had not begun. Who joins a thread
-- waits, in a futex that is not private, until the kernel has cleared the word in which its number stands. The codes 1 to 3 of SIGCHLD say that a child has ended.
first AS (SELECT thread, first_event AS event, first_ns AS begin_ns FROM internal.cause_threads),
last AS (SELECT thread, last_event AS event, last_ns AS end_ns FROM internal.cause_threads),
pids AS (SELECT DISTINCT host_index, process_id AS process, pid, pid_in_namespace FROM internal.lone_contexts),
gone AS (
  SELECT l.event, l.thread, greatest(t.end_ns, l.end_ns + 1) AS at, t.process_id AS process
  FROM internal.lone_thread_ends t JOIN last l ON l.thread = t.thread_id),
tids AS (SELECT process, result::UBIGINT AS tid, target AS thread, begin_ns FROM calls WHERE name IN ('clone', 'clone3') AND target IS NOT NULL AND result > 0
  UNION SELECT process_id, tid::UBIGINT, thread_id, thread_start_ns FROM internal.lone_contexts WHERE pid = pid_in_namespace),
joins AS (SELECT *, argument2 & 4294967295 AS tid FROM calls WHERE name IN ('futex', 'futex_time64')),
joined AS (
  SELECT l.event, l.thread, l.end_ns + 1, j.event, j.thread, j.end_ns, {cause_rule.exit}
  FROM joins j ASOF JOIN tids t ON t.process = j.process AND t.tid = j.tid AND t.begin_ns <= j.begin_ns
  JOIN last l ON l.thread = t.thread AND l.end_ns < j.end_ns SEMI JOIN gone g ON g.thread = l.thread),
forked AS (
  SELECT e.event, e.thread, e.begin_ns, f.event, f.thread, f.begin_ns - 1, {cause_rule.fork}
  FROM calls e JOIN first f ON f.thread = e.target WHERE e.name IN ('clone', 'clone3', 'fork', 'vfork')),
waited AS (
  SELECT g.event, g.thread, g.at, e.event, e.thread, e.end_ns, {cause_rule.exit}
  FROM calls e JOIN gone g ON g.process = e.target AND g.at <= e.end_ns WHERE e.name IN ('wait4', 'waitid', 'waitpid')),
replaced AS (
  SELECT g.event, g.thread, g.at, e.event, e.thread, e.end_ns, {cause_rule.exec}
  FROM calls e JOIN gone g ON g.process = e.process AND g.at BETWEEN e.begin_ns AND e.end_ns WHERE e.name IN ('execve', 'execveat') AND e.result = 0),
told AS (
  SELECT g.event, g.thread, g.at, _event_id(e.host_index, e.cpu, e.sequence) AS told_event, c.thread_id, e.start_ns, {cause_rule.signal}
  FROM internal.lone_signals e JOIN internal.lone_contexts c USING (host_index, context_id)
  JOIN pids p ON p.host_index = e.host_index AND CASE WHEN c.pid = c.pid_in_namespace THEN p.pid ELSE p.pid_in_namespace END = e.sender_pid
  JOIN gone g ON g.process = p.process AND g.at <= e.start_ns WHERE e.signal = {signal.SIGCHLD} AND e.code BETWEEN 1 AND 3
  QUALIFY g.process = first_value(g.process) OVER (PARTITION BY told_event ORDER BY g.at DESC))

-- statement forked: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_tasks
FROM forked

-- statement waited: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_tasks
FROM waited

-- statement joined: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_tasks
FROM joined

-- statement replaced: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_tasks
FROM replaced

-- statement told: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_tasks
FROM told

-- statement of_connections: two ends of a connection; the end of a pipe that writes is the same object. A connection is closed when all its descriptors are, or shut down; a FIFO may
-- be opened again. A socket that does not block is connected by its first connect; those after it ask whether it is.
tcp AS (SELECT DISTINCT object_id, connection_id FROM internal.lone_handles WHERE connection_id IS NOT NULL),
kernel_ids AS (SELECT DISTINCT r.host_index, r.object_id AS kernel_id, h.object_id
  FROM internal.raw_handle r JOIN internal.lone_handles h USING (host_index, handle_id)),
pairs AS (SELECT DISTINCT h.object_id AS a, i.object_id AS b FROM internal.raw_socket s JOIN internal.lone_handles h USING (host_index, handle_id)
  JOIN kernel_ids i ON i.host_index = s.host_index AND i.kernel_id = s.peer_object_id WHERE s.family = {socket_family.AF_UNIX} AND s.socket_type = {socket_type.SOCK_STREAM} AND s.peer_object_id > 0),
others AS (SELECT a.object_id AS object, b.object_id AS other FROM tcp a JOIN tcp b USING (connection_id) WHERE a.object_id <> b.object_id
  UNION SELECT a, b FROM pairs UNION SELECT b, a FROM pairs),
connects AS (SELECT object, arg_min(event, begin_ns) AS event, arg_min(thread, begin_ns) AS thread, min(begin_ns) AS begin_ns
  FROM calls WHERE name = 'connect' AND result IN (0, -{errors.EINPROGRESS}) GROUP BY object),
connected AS (
  SELECT a.event, a.thread, a.begin_ns, b.event, b.thread, b.end_ns, {cause_rule.connect}
  FROM calls b JOIN others o ON o.object = b.object JOIN connects a ON a.object = o.other
  WHERE b.name IN ('accept', 'accept4') AND b.result >= 0),
shut AS (SELECT object, arg_min(event, begin_ns) AS event, arg_min(thread, begin_ns) AS thread, min(begin_ns) AS begin_ns
  FROM calls WHERE name = 'shutdown' AND result = 0 AND argument1 IN ({shutdown_how.SHUT_WR}, {shutdown_how.SHUT_RDWR}) GROUP BY object),
closes AS (FROM shut UNION ALL
  SELECT object, event, thread, begin_ns FROM calls ANTI JOIN shut USING (object)
  WHERE name = 'close' AND result = 0 AND (object_type = 'socket' OR (object_type = 'pipe' AND open_flags & {open_flags.O_ACCMODE} <> 0))),
ends_of_file AS (
  SELECT object, object_type, thread, arg_min(event, end_ns) AS event, min(end_ns) AS end_ns FROM calls
  WHERE transfer IN ('read', 'copy_to') AND result = 0 AND coalesce(requested, 1) > 0
    AND ((object_type = 'socket' AND socket_type = {socket_type.SOCK_STREAM}) OR (object_type = 'pipe' AND NOT starts_with(object_path, '/'))) GROUP BY ALL),
ended AS (
  SELECT c.event, c.thread, c.begin_ns, e.event, e.thread, e.end_ns, {cause_rule.eof}
  FROM ends_of_file e JOIN (FROM others UNION ALL SELECT DISTINCT object, object FROM ends_of_file WHERE object_type = 'pipe') o USING (object)
  JOIN closes c ON c.object = o.other WHERE e.object_type = 'socket' OR c.begin_ns <= e.end_ns)

-- statement connected: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_connections
FROM connected

-- statement ended: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_connections
FROM ended

-- statement of_names: a name is opened, or not found, as the last call that changed it left it, if that had ended before.
named AS (
  SELECT *, CASE WHEN names_base THEN _join_path(object_path, path) WHEN is_nameless THEN path ELSE object_path END AS name1,
    CASE WHEN names_base2 THEN _join_path(object2_path, path2) WHEN is_nameless2 THEN path2 ELSE object2_path END AS name2 FROM calls),
changes AS (
  SELECT event, thread, begin_ns, end_ns, host_index, mount_namespace, unnest([name1, name2]) AS file_name FROM named
  WHERE result >= 0 AND (name IN ('rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'rmdir', 'mkdir', 'mkdirat', 'symlink',
      'symlinkat', 'mknod', 'mknodat', 'creat') OR (name = 'open' AND argument1 & {open_flags.O_CREAT} <> 0 AND argument1 & ({open_flags.O_EXCL} | {open_flags.O_TRUNC})::UBIGINT <> 0)
    OR (name = 'openat' AND argument2 & {open_flags.O_CREAT} <> 0 AND argument2 & ({open_flags.O_EXCL} | {open_flags.O_TRUNC})::UBIGINT <> 0))),
opened AS (
  SELECT event, thread, begin_ns, end_ns, host_index, mount_namespace, name1 AS file_name FROM named
  WHERE name IN ('open', 'openat', 'openat2', 'creat', 'execve', 'execveat') AND (result >= 0 OR result = -{errors.ENOENT})),
renamed AS (
  SELECT c.event, c.thread, c.begin_ns, o.event, o.thread, o.end_ns, {cause_rule.name}
  FROM opened o ASOF JOIN changes c ON c.host_index = o.host_index AND c.mount_namespace = o.mount_namespace AND c.file_name = o.file_name AND c.end_ns < o.begin_ns)

-- statement renamed: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_names
FROM renamed

-- statement of_datagrams: their flows, where they tell who was first (analysis/dataflow/datagrams.h): between two ports one thread sends with one socket to one address, and one
-- socket takes. An address that a socket does not know of itself could be that of any other one.
datagrams AS (@moves_datagrams),
clear_ports AS (SELECT other FROM datagrams WHERE other <> 0 GROUP BY other HAVING count(DISTINCT CASE WHEN sends THEN object END) = 1
  AND count(DISTINCT CASE WHEN sends THEN thread END) = 1 AND count(DISTINCT CASE WHEN sends THEN addresses & 4294967295 END) = 1
  AND count(DISTINCT CASE WHEN NOT sends THEN object END) = 1),
delivered AS (
  SELECT a.event, a.thread, a.begin_ns, b.event, b.thread, b.end_ns, {cause_rule.datagram}
  FROM internal.derived_flows f JOIN datagrams d ON d.event = f.from_event SEMI JOIN clear_ports USING (other)
  JOIN places a ON a.event = f.from_event JOIN places b ON b.event = f.to_event WHERE f.rule = {flow_rule.udp})

-- statement has_datagrams: whether that rule, which looks at all that moved bytes, has anything to find.
SELECT count(*) FROM (FROM internal.derived_flows WHERE rule = {flow_rule.udp} LIMIT 1)

-- statement delivered: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_datagrams
FROM delivered

-- statement of_imports: what an imported log says of the order of two events: points of time there, so that the one has ended when the other one is.
imported AS (
  SELECT a.event AS from_event, a.thread AS from_thread, a.end_ns + 1, b.event AS to_event, b.thread AS to_thread, b.end_ns, {cause_rule.import}
  FROM internal.raw_import_edge e JOIN places a ON a.event = _event_id(e.from_host, e.from_cpu, e.from_sequence)
  JOIN places b ON b.event = _event_id(e.host_index, e.to_cpu, e.to_sequence))

-- statement imported: adds what that rule finds.
INSERT INTO internal.cause_found @cause_rules_looked_at,
@cause_rules_of_imports
FROM imported

-- statement candidates: what was found, between different threads, each with a number. A thread's id says which kernel it is of.
CREATE OR REPLACE TABLE internal.cause_candidates AS
SELECT row_number() OVER ()::UBIGINT AS edge, *, from_thread >> 54 AS from_host, to_thread >> 54 AS to_host
FROM (SELECT DISTINCT * FROM internal.cause_found WHERE from_thread <> to_thread)

-- statement ordered_candidates: the same, of edges whose order is known.
CREATE OR REPLACE TABLE internal.cause_candidates AS
SELECT row_number() OVER ()::UBIGINT AS edge, from_event, from_thread, from_at, to_event, to_thread, to_at, rule, from_thread >> 54 AS from_host, to_thread >> 54 AS to_host
FROM internal.derived_edges

-- statement drop: all of these tables.
DROP TABLE IF EXISTS internal.cause_places;
DROP TABLE IF EXISTS internal.cause_threads;
DROP TABLE IF EXISTS internal.cause_calls;
DROP TABLE IF EXISTS internal.cause_found;
DROP TABLE IF EXISTS internal.cause_candidates

-- statement steps: of host $host, for CauseStep. What is given at a moment may be taken at it.
SELECT moment, kind::UBIGINT, thread, event, edge, other_host, other_event, other_thread, other_at, rule::UBIGINT FROM (
  @cause_rules_steps_of_candidates)
ORDER BY moment, kind, event, other_event, edge

-- statement steps_and_events: the same, and a step where each event ends.
SELECT moment, kind::UBIGINT, thread, event, edge, other_host, other_event, other_thread, other_at, rule::UBIGINT FROM (
  @cause_rules_steps_of_candidates
  UNION ALL SELECT end_ns, {StepKind.kEnds}, thread, event, 0::UBIGINT, 0::UBIGINT, 0::UBIGINT, 0::UBIGINT, begin_ns, 0
  FROM (@cause_calls_places_alone) WHERE thread >> 54 = $host)
ORDER BY moment, kind, event, other_event, edge

-- statement steps_of_candidates: of host $host, in any order.
SELECT from_at AS moment, {StepKind.kGives} AS kind, from_thread AS thread, from_event AS event, edge, 0::UBIGINT AS other_host, 0::UBIGINT AS other_event,
  0::UBIGINT AS other_thread, 0::UBIGINT AS other_at, 0::UTINYINT AS rule
FROM internal.cause_candidates WHERE from_host = $host
UNION ALL
SELECT to_at, {StepKind.kTakes}, to_thread, to_event, edge, from_host, from_event, from_thread, from_at, rule FROM internal.cause_candidates WHERE to_host = $host
