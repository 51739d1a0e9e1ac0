-- How many calls began in each step of $step nanoseconds, by class.
SELECT at_ns - at_ns % $step AS at_ns, class, count(*) AS calls FROM selected_calls() GROUP BY ALL ORDER BY 1, class
