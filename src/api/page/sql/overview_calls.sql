-- The calls that took most time.
SELECT name, count(*) AS calls, count(*) FILTER (WHERE is_failure(error, class)) AS errors, coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time_ns,
       quantile_disc(duration_ns, 0.5) AS p50_ns, quantile_disc(duration_ns, 0.99) AS p99_ns, max(duration_ns) AS max_ns
FROM selected_calls() GROUP BY name ORDER BY time_ns DESC NULLS LAST, name LIMIT 12
