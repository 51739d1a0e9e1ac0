-- What happened when, in steps of $step nanoseconds: by class (band is NULL), and by duration (class is NULL), which is the logarithm of nanoseconds to
-- the base 2. All calls are looked at once for both. Waiting has no duration here.
SELECT moment, class, band, count(*) AS calls, coalesce(sum(bytes), 0)::BIGINT AS bytes, count(*) FILTER (WHERE is_failure(error, event_class)) AS errors
FROM (SELECT at_ns - at_ns % $step AS moment, coalesce(class, '?') AS class, bytes, error, class AS event_class,
             CASE WHEN class <> 'wait' AND duration_ns IS NOT NULL THEN floor(log2(greatest(duration_ns, 1)))::INTEGER END AS band
      FROM selected_calls())
GROUP BY GROUPING SETS ((moment, class), (moment, band)) ORDER BY moment, class, band
