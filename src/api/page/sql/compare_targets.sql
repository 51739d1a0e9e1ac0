-- What bytes were moved from and to, those with most bytes first. Of a copy it is the object that the call names first.
SELECT target AS key, coalesce(sum(bytes), 0)::BIGINT AS bytes, count(*) AS calls
FROM selected_calls() WHERE transfer IS NOT NULL GROUP BY key ORDER BY bytes DESC, calls DESC, key
