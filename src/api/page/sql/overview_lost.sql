-- Why events were lost, in the whole trace.
SELECT host, reason, count(*) AS gaps, sum(lost) AS events, max(end_ns - begin_ns) AS longest_ns FROM gaps GROUP BY ALL ORDER BY gaps DESC LIMIT 20
