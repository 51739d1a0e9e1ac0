-- Bytes that programs ask malloc for, by stack.
SELECT comm, user_stack, count(*) AS calls, sum(arguments.arg0) AS bytes
FROM user_function('libc.so.6', 'malloc') GROUP BY ALL ORDER BY bytes DESC LIMIT 30
