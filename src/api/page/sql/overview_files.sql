-- The files with most bytes.
SELECT object_id, any_value(path) AS file, coalesce(sum(bytes) FILTER (WHERE verb = 'read'), 0)::BIGINT AS read_bytes,
       coalesce(sum(bytes) FILTER (WHERE verb = 'wrote'), 0)::BIGINT AS written_bytes, sum(uses)::BIGINT AS calls, sum(duration_ns)::BIGINT AS time_ns
FROM file_uses() WHERE object_type = 'file'
GROUP BY object_id ORDER BY coalesce(sum(bytes), 0) DESC, calls DESC, object_id LIMIT 12
