-- What ended each of several waits, in a few words: the first by name, and how many there were.
SELECT wait::VARCHAR AS event_id, min(rule) AS rule, min(what) AS what, count(*) AS ends
FROM woken_by_each($events::BIGINT[]) WHERE rule IN ('ready', 'wake', 'exit') AND what IS NOT NULL GROUP BY wait
