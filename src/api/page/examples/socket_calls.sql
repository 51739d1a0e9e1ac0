-- The calls that a row about sockets counts, with the columns that people look at first.
SELECT at_ns, process, tid, name, target, error, bytes, duration_ns, file_offset, event_id FROM selected
WHERE event_id IN (SELECT event_id FROM $calls WHERE $condition)
ORDER BY at_ns LIMIT 1000
