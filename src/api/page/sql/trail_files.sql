-- The files that were written most, where a trail may start.
SELECT path FROM selected WHERE object_type = 'file' AND bytes > 0 AND starts_with(path, '/')
GROUP BY path ORDER BY sum(bytes) FILTER (WHERE transfer IN ('write', 'copy_from')) DESC NULLS LAST, sum(bytes) DESC, path LIMIT $most
