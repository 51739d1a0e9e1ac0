-- Which processes used an object, those with most calls first.
SELECT process_id, who, u.process, calls, read_bytes, written_bytes, threads, errors, time_ns
FROM (SELECT process_id, any_value(process) AS process, sum(uses)::BIGINT AS calls, coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT AS read_bytes,
             coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT AS written_bytes, count(DISTINCT tid) AS threads,
             count(*) FILTER (WHERE is_failure(error, class)) AS errors, sum(duration_ns)::BIGINT AS time_ns
      FROM file_uses() WHERE object_id = $object::BIGINT GROUP BY process_id ORDER BY calls DESC, process_id LIMIT 30) u
LEFT JOIN _page_processes USING (process_id) ORDER BY calls DESC, process_id
