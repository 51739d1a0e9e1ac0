-- space_time.sql by the clock of each host, as it said: x is nanoseconds from $begin_ns. Bytes have come when a read ends.
WITH clocks AS (SELECT host, min_by(wall_ns::HUGEINT - boot_ns::HUGEINT, boot_ns) AS wall FROM clock_snapshots GROUP BY host),
moments AS (
  SELECT event_id, process_id, node, host, bytes, verb,
         (start_ns::HUGEINT + (SELECT c.wall FROM clocks c WHERE c.host = s.host) - $begin_ns::HUGEINT)::BIGINT +
         CASE WHEN verb = 'read' THEN coalesce(duration_ns, 0)::BIGINT ELSE 0 END AS x FROM selected s),
