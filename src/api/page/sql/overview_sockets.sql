-- The peers with which most bytes were exchanged, with who exchanged most with them. The calls are those that moved bytes, or would have.
SELECT peer, arg_max(process, (received_bytes + sent_bytes, calls, process)) || CASE WHEN count(*) > 1 THEN ' and ' || (count(*) - 1) || ' more' ELSE '' END AS process, sum(received_bytes)::BIGINT AS received_bytes,
       sum(sent_bytes)::BIGINT AS sent_bytes, sum(calls)::BIGINT AS calls, sum(time_ns)::BIGINT AS time_ns
FROM (SELECT target AS peer, process_id, any_value(process) AS process, coalesce(sum(bytes) FILTER (WHERE transfer IN ('read', 'copy_to')), 0)::BIGINT AS received_bytes,
             coalesce(sum(bytes) FILTER (WHERE transfer IN ('write', 'copy_from')), 0)::BIGINT AS sent_bytes, count(*) AS calls, sum(duration_ns)::BIGINT AS time_ns
      FROM socket_uses() GROUP BY ALL)
GROUP BY peer ORDER BY sum(received_bytes + sent_bytes) DESC, sum(calls) DESC, peer LIMIT 12
