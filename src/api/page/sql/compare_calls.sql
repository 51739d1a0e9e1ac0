-- The calls of a trace by `$by`: name; program, whatever its number; error, with the name of the call.
SELECT CASE $by WHEN 'program' THEN regexp_replace(process, '\[[0-9]+\]$', '')
                WHEN 'error' THEN CASE WHEN is_failure(error, class) THEN name || ' ' || error END
                ELSE name END AS key,
       count(*) AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes, count(*) FILTER (WHERE is_failure(error, class)) AS errors, coalesce(sum(duration_ns), 0)::BIGINT AS time_ns,
       coalesce(quantile_disc(duration_ns, 0.99), 0)::BIGINT AS p99_ns
FROM selected_calls() WHERE key IS NOT NULL GROUP BY key ORDER BY time_ns DESC, key
