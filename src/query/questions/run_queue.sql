-- How long threads wait for a CPU after they were woken, in powers of two.
SELECT power_of_two(runs.time_ns - woken.time_ns) AS ns, count(*) AS times
FROM tracepoint('sched', 'sched_switch') AS runs
ASOF JOIN tracepoint('sched', 'sched_wakeup') AS woken ON runs.arguments.next_pid = woken.arguments.pid AND runs.time_ns >= woken.time_ns
GROUP BY ALL ORDER BY ns
