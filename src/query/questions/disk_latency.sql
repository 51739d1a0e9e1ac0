-- How long disks take from a request's issue to its completion, by device, in powers of two.
SELECT done.arguments.dev >> 20 AS major, done.arguments.dev & 1048575 AS minor, power_of_two(done.time_ns - begun.time_ns) AS ns, count(*) AS requests
FROM tracepoint('block', 'block_rq_complete') AS done
ASOF JOIN tracepoint('block', 'block_rq_issue') AS begun
    ON done.arguments.dev = begun.arguments.dev AND done.arguments.sector = begun.arguments.sector AND done.time_ns >= begun.time_ns
GROUP BY ALL ORDER BY major, minor, ns
