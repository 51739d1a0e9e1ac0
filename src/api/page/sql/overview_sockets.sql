-- The peers with which most bytes were exchanged.
SELECT target AS peer, any_value(process) AS process, coalesce(sum(bytes) FILTER (WHERE transfer IN ('read', 'copy_to')), 0)::BIGINT AS received_bytes,
       coalesce(sum(bytes) FILTER (WHERE transfer IN ('write', 'copy_from')), 0)::BIGINT AS sent_bytes, count(*) AS calls, sum(duration_ns)::BIGINT AS time_ns
FROM selected WHERE object_type = 'socket' GROUP BY target ORDER BY coalesce(sum(bytes), 0) DESC, calls DESC, target LIMIT 12
