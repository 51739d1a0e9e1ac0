-- How many calls took how long: a band is a fourth of the logarithm of nanoseconds to the base 2. Waiting is left out.
SELECT floor(log2(greatest(duration_ns, 1)) / 0.25)::INTEGER AS band, count(*) AS calls
FROM selected_calls() WHERE duration_ns IS NOT NULL AND class <> 'wait' GROUP BY band ORDER BY band
