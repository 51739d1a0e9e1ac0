-- How long calls on an object took that read, wrote or synced it: a band is the logarithm of nanoseconds to the base 2.
SELECT verb, floor(log2(greatest(duration_ns, 1)))::INTEGER AS band, count(*) AS calls
FROM file_uses() WHERE object_id = $object::BIGINT AND verb IS NOT NULL AND duration_ns IS NOT NULL GROUP BY ALL ORDER BY ALL
