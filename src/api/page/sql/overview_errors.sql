-- The failures that calls returned most often.
SELECT error, name, any_value(process) AS process, count(*) AS times, any_value(target) AS example
FROM selected WHERE is_failure(error, class) AND parent_event_id IS NULL GROUP BY error, name ORDER BY times DESC, error, name LIMIT 12
