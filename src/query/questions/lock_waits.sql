-- How long threads wait in futexes, by stack: locks, conditions, the ends of threads.
SELECT wait.comm, wait.user_stack, count(*) AS waits, sum(over.time_ns - wait.time_ns) AS ns
FROM tracepoint('syscalls', 'sys_exit_futex') AS over
ASOF JOIN tracepoint('syscalls', 'sys_enter_futex') AS wait ON over.tid = wait.tid AND over.time_ns >= wait.time_ns
WHERE wait.arguments.op & 127 IN (0, 9) GROUP BY ALL ORDER BY ns DESC LIMIT 30
