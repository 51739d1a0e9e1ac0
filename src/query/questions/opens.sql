-- Files that are opened, by program and path, also those that are not there.
SELECT comm, path, count(*) AS opens, count(error) AS errors
FROM events WHERE name IN ('open', 'openat', 'openat2', 'creat') GROUP BY ALL ORDER BY opens DESC, path LIMIT 30
