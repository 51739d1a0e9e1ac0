-- sent_again(since_ns, until_ns): what TCP sent again on sockets through which the selection moved bytes, a row per socket. The stretch of time is that of at_ns; without one it is all of the trace.
-- Its words are no words of a column of events or clock_map: DuckDB takes those for the same where `selected` is the view itself.
CREATE OR REPLACE TEMP MACRO sent_again(since_ns := NULL, until_ns := NULL) AS TABLE
SELECT object_id, sum(segments) AS segments, sum(bytes) AS bytes FROM retransmissions
WHERE object_id IN (SELECT object_id FROM selected WHERE object_type = 'socket' AND parent_event_id IS NULL AND transfer IS NOT NULL
        UNION ALL SELECT object2_id FROM selected WHERE parent_event_id IS NULL AND transfer IN ('copy_to', 'copy_from', 'tee'))
      AND epoch_ns(time) - (SELECT epoch_ns(time) - at_ns FROM selected LIMIT 1) BETWEEN coalesce(since_ns, -(1::BIGINT << 62)) AND coalesce(until_ns, 1::BIGINT << 62)
GROUP BY object_id;
