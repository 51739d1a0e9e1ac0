-- conversations(since_ns, until_ns): a row per process of the selection and peer. What TCP sent again (sent_again()) belongs to sockets, and so to each process that used them.
CREATE OR REPLACE TEMP MACRO conversations(since_ns := NULL, until_ns := NULL) AS TABLE
WITH calls AS MATERIALIZED (FROM socket_calls()),
used AS (SELECT DISTINCT process_id, peer, object_id FROM calls),
lossy AS (
  SELECT process_id, peer, sum(segments)::BIGINT AS segments, sum(bytes)::BIGINT AS bytes
  FROM used JOIN sent_again(since_ns := since_ns, until_ns := until_ns) USING (object_id) GROUP BY ALL)
SELECT c.process_id, any_value(c.process) AS process, c.peer, count(DISTINCT c.object_id) AS sockets,
       sum(c.bytes) FILTER (WHERE transfer IN ('write', 'copy_from'))::BIGINT AS sent_bytes,
       sum(c.bytes) FILTER (WHERE transfer IN ('read', 'copy_to'))::BIGINT AS received_bytes,
       count(*) AS calls, count(trip_ns) AS round_trips, sum(waited_ns) FILTER (WHERE transfer IN ('read', 'peek', 'copy_to'))::BIGINT AS waited_ns,
       coalesce(any_value(l.segments), 0)::BIGINT AS retransmissions, coalesce(any_value(l.bytes), 0)::BIGINT AS sent_again_bytes, count(error) AS errors
FROM calls c LEFT JOIN lossy l ON l.process_id = c.process_id AND l.peer = c.peer
GROUP BY c.process_id, c.peer;
