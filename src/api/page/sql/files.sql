-- The files of which some name contains $like, by the name that is known last, those with most bytes first, and how many there are.
SELECT object_id, o.path AS file, host, read_bytes, written_bytes, calls, processes, syncs, time_ns, all_files
FROM (SELECT object_id, count(*) OVER () AS all_files, any_value(host) AS host, coalesce(sum(bytes), 0)::BIGINT AS bytes,
             coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT AS read_bytes,
             coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT AS written_bytes, sum(uses)::BIGINT AS calls, count(DISTINCT process_id) AS processes,
             count(*) FILTER (WHERE verb = 'synced') AS syncs, sum(duration_ns)::BIGINT AS time_ns
      FROM file_uses() WHERE object_type = 'file' AND ($like = '' OR contains(path, $like))
      GROUP BY object_id ORDER BY bytes DESC, calls DESC, object_id LIMIT 200)
LEFT JOIN (SELECT object_id, path FROM objects) o USING (object_id) ORDER BY bytes DESC, calls DESC, object_id
