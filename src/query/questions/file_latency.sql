-- How long calls on files take, by call, in powers of two.
SELECT name, power_of_two(duration_ns) AS ns, count(*) AS calls
FROM events WHERE class = 'file' GROUP BY ALL ORDER BY name, ns
