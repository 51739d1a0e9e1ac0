-- socket_calls(): the calls of the selection that moved bytes through sockets, each with its peer.
--
-- The other end of a TCP connection of this trace is a process, that of any other connection its address. A round trip is a receive that follows a send on the same
-- socket, by the same process: `trip_ns` is the time from the begin of that send to the end of the receive, NULL where there is none. What a peek sees stays where it is: it is no
-- receive, and does not stand between a send and its receive. Neither does a call that failed, such as a look for what has not come yet (EAGAIN).
CREATE OR REPLACE TEMP MACRO socket_calls() AS TABLE
WITH moves AS (
  SELECT process_id, process, object_id, connection_id, host, target, at_ns, event_id, bytes, verb, transfer, error, duration_ns, waited_ns,
         lag({'transfer': transfer, 'at_ns': at_ns, 'event_id': event_id}) OVER (PARTITION BY object_id, process_id, transfer = 'peek' OR error IS NOT NULL ORDER BY at_ns, event_id) AS before
  FROM socket_uses()),
-- Two hosts that are one kernel may both have recorded a process: it is no peer of itself, and as a peer it is named once.
ends AS (SELECT connection_id, process_id, any_value(process) AS process, any_value(_of_kernel(process_id, k.kernel)) AS of_kernel
  FROM moves JOIN internal.kernels k ON k.host_index = process_id >> 54 WHERE connection_id IS NOT NULL GROUP BY ALL),
peers AS (
  SELECT a.connection_id, a.process_id, string_agg(DISTINCT b.process, ', ' ORDER BY b.process) AS peer
  FROM ends a JOIN (FROM ends QUALIFY process_id = min(process_id) OVER (PARTITION BY connection_id, of_kernel)) b
  ON a.connection_id = b.connection_id AND a.of_kernel <> b.of_kernel GROUP BY ALL)
SELECT m.event_id, m.at_ns, m.host, m.process_id, m.process, coalesce(p.peer, m.target) AS peer, m.object_id, m.connection_id, m.verb, m.transfer, m.bytes, m.error,
       m.duration_ns, m.waited_ns,
       CASE WHEN m.transfer IN ('read', 'copy_to') AND m.bytes > 0 AND m.before.transfer IN ('write', 'copy_from') THEN m.at_ns + m.duration_ns::BIGINT - m.before.at_ns END AS trip_ns,
       CASE WHEN trip_ns IS NOT NULL THEN m.before.event_id END AS sent_event_id
FROM moves m LEFT JOIN peers p ON p.connection_id = m.connection_id AND p.process_id = m.process_id;
