-- The processes with most calls.
SELECT process_id, who, b.process, calls, errors, bytes, time_ns, p99_ns, command
FROM (SELECT process_id, any_value(process) AS process, count(*) AS calls, count(*) FILTER (WHERE is_failure(error, class)) AS errors,
             coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time_ns, quantile_disc(duration_ns, 0.99) AS p99_ns
      FROM selected_calls() GROUP BY process_id ORDER BY calls DESC, process_id LIMIT 12) b
LEFT JOIN _page_processes USING (process_id) LEFT JOIN (SELECT process_id, command FROM processes) USING (process_id)
ORDER BY calls DESC, process_id
