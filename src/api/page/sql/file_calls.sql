-- Which calls were made on an object, the most frequent first.
SELECT name, coalesce(error, '') AS error, count(*) AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes, sum(duration_ns)::BIGINT AS time_ns,
       max(duration_ns) AS max_ns
FROM selected WHERE object_id = $object::BIGINT OR object2_id = $object::BIGINT GROUP BY ALL ORDER BY calls DESC, name LIMIT 30
