-- What `dyetrace export` and the page's exports write. $from is a table of events: `events`, `selected`, or what `chosen` makes.

-- statement chosen: events that a filter takes, as a table in brackets. $condition: what `filter` wrote; it may end with a comment.
(FROM events WHERE (
$condition
))

-- statement table: all columns, in the order of time.
SELECT * FROM $from ORDER BY time, event_id

-- statement has_flows: whether there are any.
SELECT count(*) > 0 FROM flows

-- statement events: event, parent, process, thread, begin, duration, state, class, name, no flows, then $values, columns of `events`. $order: `process_id,` or nothing.
-- The calls that are named, the most frequent ones, have no words of arguments but what stands in `fd`, `requested` and `file_offset`.
WITH chosen AS (
SELECT event_id, parent_event_id, process_id, thread_id, epoch_ns(time) AS begin_ns, duration_ns, state, class, name, $columns,
       CASE WHEN NOT $with_arguments OR name IN ('read', 'write', 'pread64', 'pwrite64', 'readv', 'writev', 'close') THEN NULL ELSE arguments END AS arguments
FROM $from)
SELECT event_id, parent_event_id, process_id, thread_id, begin_ns, duration_ns, state, class, name, NULL, NULL, $values
FROM chosen ORDER BY $order begin_ns, duration_ns DESC NULLS FIRST, event_id

-- statement events_with_flows: the same with what flowed to an event and from it: lists of [number of the flow, other event, its process]. A flow is one pair of events,
-- however many pieces went between them. Its number is the same in each export.
WITH who AS (SELECT event_id, process_id FROM $from),
pairs AS (SELECT DISTINCT from_event, to_event FROM flows),
arrows AS (SELECT from_event, to_event, hash(from_event, to_event) AS id, a.process_id AS from_process, b.process_id AS to_process
    FROM pairs JOIN who a ON a.event_id = from_event JOIN who b ON b.event_id = to_event),
taken AS (SELECT to_event AS event_id, list([id, from_event, from_process] ORDER BY from_event) AS flows_from FROM arrows GROUP BY 1),
given AS (SELECT from_event AS event_id, list([id, to_event, to_process] ORDER BY to_event) AS flows_to FROM arrows GROUP BY 1),
chosen AS (
SELECT event_id, parent_event_id, process_id, thread_id, epoch_ns(time) AS begin_ns, duration_ns, state, class, name, $columns,
       CASE WHEN NOT $with_arguments OR name IN ('read', 'write', 'pread64', 'pwrite64', 'readv', 'writev', 'close') THEN NULL ELSE arguments END AS arguments
FROM $from)
SELECT event_id, parent_event_id, process_id, thread_id, begin_ns, duration_ns, state, class, name, flows_from, flows_to, $values
FROM chosen LEFT JOIN taken USING (event_id) LEFT JOIN given USING (event_id) ORDER BY $order begin_ns, duration_ns DESC NULLS FIRST, event_id

-- statement packets: calls that moved bytes over sockets, in the order in which the bytes went by: sent ones at the beginning of a call, received ones at its end. What
-- was only peeked at comes again.
WITH kinds AS (SELECT object_id, any_value(family) AS family, any_value(socket_type) AS socket_type FROM sockets GROUP BY 1),
calls AS (SELECT *, CASE WHEN class = 'network' THEN object_id ELSE object2_id END AS socket, transfer IN ('write', 'copy_from') OR class <> 'network' AS is_sent
  FROM (SELECT * FROM $from) WHERE bytes > 0 AND transfer IN ('read', 'copy_to', 'write', 'copy_from')
    AND (class = 'network' OR (transfer = 'copy_to' AND object2_id IN (SELECT object_id FROM kinds))))
SELECT c.event_id, h.host_index, epoch_ns(c.time) + CASE WHEN is_sent THEN 0 ELSE coalesce(c.duration_ns, 0)::BIGINT END AS moment,
    is_sent, k.family IN ('inet', 'inet6') AS is_ip, k.socket_type, c.local_address, c.local_port, c.remote_address, c.remote_port,
    c.connection_id, c.stream_offset, c.bytes, c.comm, c.pid, c.name
FROM calls c JOIN hosts h USING (host) LEFT JOIN kinds k ON k.object_id = c.socket
ORDER BY moment, event_id

-- statement packet_events: events that may have payload in packets.
SELECT event_id FROM (SELECT * FROM $from) WHERE class = 'network' AND bytes > 0 ORDER BY event_id

-- statement hosts: host, name, boot, kernel.
SELECT host_index, host, boot_id, kernel FROM hosts ORDER BY host_index

-- statement processes: process, host, pid, ppid, comm, exe, container.
SELECT p.process_id, h.host_index, p.pid, p.ppid, p.comm, p.exe, p.container FROM processes p JOIN hosts h USING (host)

-- statement threads: thread, process, tid, comm.
SELECT thread_id, process_id, tid, comm FROM threads

-- statement first_host: the wall clock minus CLOCK_BOOTTIME of the host that was started first.
SELECT min(wall_offset_ns) FROM hosts

-- statement first_boot_time: the first time that is known of that host.
SELECT min(boot_ns) FROM clock_snapshots JOIN hosts USING (host) WHERE wall_offset_ns = (SELECT min(wall_offset_ns) FROM hosts)

-- statement are_several_hosts: true if there are.
SELECT count(*) > 1 FROM hosts

-- statement gaps: host, when it began by the clock of the events, length, events lost, reason, CPU. $clock: raw, or any other for that of the wall.
SELECT h.host_index, CASE WHEN $clock = 'raw' THEN g.begin_ns::BIGINT ELSE g.begin_ns::BIGINT + h.wall_offset_ns END AS moment,
       (g.end_ns - g.begin_ns)::UBIGINT, g.lost, g.reason, g.cpu
FROM gaps g JOIN internal.hosts h ON h.name = g.host ORDER BY moment, 1, 3, 4, 5, 6

-- statement gaps_of_cluster: the same by the clock of the cluster; as `events` has it, outside the pieces of the map by the wall clock.
SELECT h.host_index, epoch_ns(coalesce(_cluster_time(g.begin_ns, m.from_ns, m.to_ns, m.cluster_ns, m.cluster_to_ns), _wall_time(g.begin_ns, h.wall_offset_ns))) AS moment,
       (g.end_ns - g.begin_ns)::UBIGINT, g.lost, g.reason, g.cpu
FROM gaps g JOIN internal.hosts h ON h.name = g.host
LEFT JOIN internal.derived_clock_map m ON m.host_index = h.host_index AND g.begin_ns >= m.from_ns AND g.begin_ns < m.to_ns
ORDER BY moment, 1, 3, 4, 5, 6
