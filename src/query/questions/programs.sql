-- Programs that start.
SELECT pid, arguments.filename, count(*) AS times
FROM tracepoint('sched', 'sched_process_exec') GROUP BY ALL ORDER BY times DESC, pid LIMIT 30
