-- conversations(since_ns, until_ns): a row per process of the selection and peer. What TCP sent again (sent_again()) belongs to sockets, and so to each process that used them.
--
-- A row of socket_calls() has 200 bytes, and to find round trips the window over all of them is in memory. Here calls are added up as they come, and what finds round trips is a sort of three
-- numbers, which goes to the disk: 10 million calls are asked with 250 MB (before: 3 GB).
CREATE OR REPLACE TEMP MACRO conversations(since_ns := NULL, until_ns := NULL) AS TABLE
WITH uses AS (
  SELECT coalesce(process_id, -1) AS process, process_id, process AS name, object_id, connection_id, coalesce(connection_id, 0) AS connection, target, hash(target) AS target_hash,
         at_ns, event_id, bytes, transfer, error, waited_ns FROM socket_uses()),
-- Numbers stand for each row and for each socket of a process.
sums AS MATERIALIZED (
  SELECT *, row_number() OVER ()::UINTEGER AS number, dense_rank() OVER (ORDER BY process, object_id)::UINTEGER AS socket
  FROM (SELECT process, any_value(process_id) AS process_id, any_value(name) AS name, object_id, any_value(connection_id) AS connection_id, connection, target, target_hash,
               sum(bytes) FILTER (WHERE transfer IN ('write', 'copy_from')) AS sent_bytes, sum(bytes) FILTER (WHERE transfer IN ('read', 'copy_to')) AS received_bytes,
               count(*) AS calls, sum(waited_ns) FILTER (WHERE transfer IN ('read', 'peek', 'copy_to')) AS waited_ns, count(*) FILTER (WHERE is_failure(error, 'network')) AS errors
        FROM uses GROUP BY ALL)),
moves AS (
  SELECT s.socket, s.number, CASE WHEN u.transfer IN ('read', 'copy_to') AND u.bytes > 0 THEN 1 WHEN u.transfer IN ('write', 'copy_from') THEN 2 ELSE 0 END::UTINYINT AS way
  FROM uses u JOIN sums s ON s.process = u.process AND s.object_id = u.object_id AND s.connection = u.connection AND s.target_hash = u.target_hash
  WHERE u.transfer <> 'peek' AND u.error IS NULL ORDER BY s.socket, u.at_ns, u.event_id),
-- In that order, one row after the other.
trips AS (
  SELECT number, count(*) AS round_trips FROM (SELECT *, lag(way) OVER () AS way_before, lag(socket) OVER () AS socket_before FROM moves)
  WHERE way = 1 AND way_before = 2 AND socket_before = socket GROUP BY number),
-- The ends of a connection, and whose they are, are found as socket_calls() finds them.
ends AS (SELECT connection_id, process_id, any_value(name) AS process, any_value(_of_kernel(process_id, k.kernel)) AS of_kernel
  FROM sums JOIN internal.kernels k ON k.host_index = process_id >> 54 WHERE connection_id IS NOT NULL GROUP BY ALL),
peers AS (
  SELECT a.connection_id, a.process_id, string_agg(DISTINCT b.process, ', ' ORDER BY b.process) AS peer
  FROM ends a JOIN (FROM ends QUALIFY process_id = min(process_id) OVER (PARTITION BY connection_id, of_kernel)) b
  ON a.connection_id = b.connection_id AND a.of_kernel <> b.of_kernel GROUP BY ALL),
told AS (
  SELECT s.process_id, s.name, coalesce(p.peer, s.target) AS peer, s.object_id, s.sent_bytes, s.received_bytes, s.calls, s.waited_ns, s.errors, coalesce(t.round_trips, 0) AS round_trips
  FROM sums s LEFT JOIN peers p ON p.connection_id = s.connection_id AND p.process_id = s.process_id
  LEFT JOIN trips t ON t.number = s.number),
used AS (SELECT DISTINCT process_id, peer, object_id FROM told),
lossy AS (
  SELECT process_id, peer, sum(segments)::BIGINT AS segments, sum(bytes)::BIGINT AS bytes
  FROM used JOIN sent_again(since_ns := since_ns, until_ns := until_ns) USING (object_id) GROUP BY ALL)
SELECT c.process_id, any_value(c.name) AS process, c.peer, count(DISTINCT c.object_id) AS sockets, sum(c.sent_bytes)::BIGINT AS sent_bytes,
       sum(c.received_bytes)::BIGINT AS received_bytes, sum(c.calls)::BIGINT AS calls, sum(c.round_trips)::BIGINT AS round_trips, sum(c.waited_ns)::BIGINT AS waited_ns,
       coalesce(any_value(l.segments), 0)::BIGINT AS retransmissions, coalesce(any_value(l.bytes), 0)::BIGINT AS sent_again_bytes, sum(c.errors)::BIGINT AS errors
FROM told c LEFT JOIN lossy l ON l.process_id = c.process_id AND l.peer = c.peer
GROUP BY c.process_id, c.peer;
