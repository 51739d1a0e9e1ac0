-- The selection in numbers. That a thread's last call does not return is as it should be.
SELECT count(*) AS calls, count(DISTINCT process_id) AS processes, count(DISTINCT thread_id) AS threads, count(DISTINCT host) AS hosts,
       coalesce(sum(read_bytes), 0)::BIGINT AS read_bytes, coalesce(sum(written_bytes), 0)::BIGINT AS written_bytes,
       coalesce(sum(bytes) FILTER (WHERE verb = 'copied'), 0)::BIGINT AS copied_bytes, count(*) FILTER (WHERE is_failure(error, class)) AS errors, count(*) FILTER (WHERE would_wait(error, class)) AS would_wait,
       count(*) FILTER (WHERE state = 'unfinished' AND name NOT IN ('exit', 'exit_group')) AS unfinished, count(*) FILTER (WHERE duration_ns > 1e8) AS slow,
       coalesce(max(at_ns + coalesce(duration_ns, 0)::BIGINT) - min(at_ns), 0) AS span_ns
FROM selected_calls()
