-- Names of hosts that programs look up, and how long it takes.
SELECT comm, str(arguments.arg0) AS name, count(*) AS lookups, max(duration_ns) AS longest_ns
FROM user_function('libc.so.6', 'getaddrinfo') GROUP BY ALL ORDER BY longest_ns DESC LIMIT 30
