-- space_time.sql in cluster time: x is nanoseconds from the begin. Bytes have come when a read ends.
WITH moments AS (
  SELECT event_id, process_id, node, host, bytes, verb, at_ns + CASE WHEN verb = 'read' THEN coalesce(duration_ns, 0)::BIGINT ELSE 0 END AS x FROM selected),
