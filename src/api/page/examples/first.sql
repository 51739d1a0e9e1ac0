-- What the view Query begins with.
SELECT name, count(*) AS calls, sum(bytes) AS bytes
FROM selected_calls() GROUP BY ALL ORDER BY calls DESC LIMIT 20
