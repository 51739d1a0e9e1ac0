-- The files with most bytes, by the name that is known last.
SELECT object_id, o.path AS file, read_bytes, written_bytes, calls, time_ns
FROM (SELECT object_id, coalesce(sum(bytes), 0)::BIGINT AS bytes, coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT AS read_bytes,
             coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT AS written_bytes, sum(uses)::BIGINT AS calls, sum(duration_ns)::BIGINT AS time_ns
      FROM file_uses() WHERE object_type = 'file'
      GROUP BY object_id ORDER BY bytes DESC, calls DESC, object_id LIMIT 12)
LEFT JOIN (SELECT object_id, path FROM objects) o USING (object_id) ORDER BY bytes DESC, calls DESC, object_id
