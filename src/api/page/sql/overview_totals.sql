-- The selection in numbers. Parts of a call are counted with it.
SELECT count(*) AS calls, count(DISTINCT process_id) AS processes, count(DISTINCT thread_id) AS threads, count(DISTINCT host) AS hosts,
       coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT AS read_bytes,
       coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT AS written_bytes, count(*) FILTER (WHERE is_failure(error, class)) AS errors, count(*) FILTER (WHERE would_wait(error, class)) AS would_wait,
       count(*) FILTER (WHERE state = 'unfinished') AS unfinished, count(*) FILTER (WHERE duration_ns > 1e8) AS slow,
       coalesce(max(at_ns + coalesce(duration_ns, 0)::BIGINT) - min(at_ns), 0) AS span_ns
FROM selected WHERE parent_event_id IS NULL
