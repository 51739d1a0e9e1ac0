-- The failures that calls returned most often, with who met them most often.
SELECT error, name, arg_max(process, (times, process)) || CASE WHEN count(*) > 1 THEN ' and ' || (count(*) - 1) || ' more' ELSE '' END AS process, sum(times)::BIGINT AS times, min(example) AS example
FROM (SELECT error, name, process_id, any_value(process) AS process, count(*) AS times, min(nullif(target, '')) AS example
      FROM selected_calls() WHERE is_failure(error, class) GROUP BY ALL)
GROUP BY error, name ORDER BY times DESC, error, name LIMIT 12
