-- What was not watched, or in part, in the whole trace.
SELECT host, source, state, reason FROM coverage WHERE state <> 'on' ORDER BY ALL LIMIT 30
