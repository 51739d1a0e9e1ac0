-- socket_calls(): the calls of the selection that moved bytes through sockets, each with its peer.
--
-- The other end of a TCP connection of this trace is a process, that of any other connection its address. A round trip is a receive that follows a send on the same
-- socket, by the same process: `trip_ns` is the time from the begin of that send to the end of the receive, NULL where there is none.
CREATE OR REPLACE TEMP MACRO socket_calls() AS TABLE
WITH moves AS (
  SELECT process_id, process, object_id, connection_id, host, target, at_ns, event_id, greatest(coalesce(bytes, 0), 0) AS bytes, verb, error,
         coalesce(duration_ns, 0) AS duration_ns, coalesce(duration_ns - on_cpu_ns, 0) AS waited_ns,
         lag({'verb': verb, 'at_ns': at_ns, 'event_id': event_id}) OVER (PARTITION BY object_id, process_id ORDER BY at_ns, event_id) AS before
  FROM selected WHERE object_type = 'socket' AND parent_event_id IS NULL AND verb IS NOT NULL),
ends AS (SELECT connection_id, process_id, any_value(process) AS process FROM moves WHERE connection_id IS NOT NULL GROUP BY ALL),
peers AS (
  SELECT a.connection_id, a.process_id, string_agg(DISTINCT b.process, ', ' ORDER BY b.process) AS peer
  FROM ends a JOIN ends b ON a.connection_id = b.connection_id AND a.process_id <> b.process_id GROUP BY ALL)
SELECT m.event_id, m.at_ns, m.host, m.process_id, m.process, coalesce(p.peer, m.target) AS peer, m.object_id, m.connection_id, m.verb, m.bytes, m.error,
       m.duration_ns, m.waited_ns,
       CASE WHEN m.verb = 'read' AND m.bytes > 0 AND m.before.verb IN ('wrote', 'copied') THEN m.at_ns + m.duration_ns::BIGINT - m.before.at_ns END AS trip_ns,
       CASE WHEN trip_ns IS NOT NULL THEN m.before.event_id END AS sent_event_id
FROM moves m LEFT JOIN peers p ON p.connection_id = m.connection_id AND p.process_id = m.process_id;
