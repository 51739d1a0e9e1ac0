-- Which files are synced, and how long programs wait for it.
SELECT comm, path, count(*) AS syncs, max(duration_ns) AS longest_ns, sum(duration_ns) AS ns
FROM events WHERE name IN ('fsync', 'fdatasync', 'sync_file_range', 'msync', 'sync', 'syncfs') GROUP BY ALL ORDER BY ns DESC LIMIT 30
