-- System calls by program: how many, how many failed, bytes and time.
SELECT comm, name, count(*) AS calls, count(error) AS errors, sum(bytes) AS bytes, sum(duration_ns) AS ns
FROM events GROUP BY ALL ORDER BY ns DESC LIMIT 30
