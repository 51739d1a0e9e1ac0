-- Where threads leave their CPU, and how long they are away, by stack.
SELECT off.comm, off.user_stack, off.kernel_stack, count(*) AS times, sum(back.time_ns - off.time_ns) AS ns
FROM tracepoint('sched', 'sched_switch') AS back
ASOF JOIN tracepoint('sched', 'sched_switch') AS off ON back.arguments.next_pid = off.arguments.prev_pid AND back.time_ns > off.time_ns
WHERE off.arguments.prev_pid <> 0 GROUP BY ALL ORDER BY ns DESC LIMIT 30
