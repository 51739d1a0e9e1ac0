-- sent_again(from_ns, to_ns): what TCP sent again on sockets that the selection used, a row per socket. The stretch of time is that of at_ns; without one it is all of the trace.
CREATE OR REPLACE TEMP MACRO sent_again(from_ns := NULL, to_ns := NULL) AS TABLE
SELECT object_id, sum(segments) AS segments, sum(bytes) AS bytes FROM retransmissions
WHERE object_id IN (SELECT object_id FROM selected WHERE object_type = 'socket' AND parent_event_id IS NULL AND verb IS NOT NULL)
      AND epoch_ns(time) - (SELECT epoch_ns(time) - at_ns FROM selected LIMIT 1) BETWEEN coalesce(from_ns, -(1::BIGINT << 62)) AND coalesce(to_ns, 1::BIGINT << 62)
GROUP BY object_id;
