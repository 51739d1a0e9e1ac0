-- What runs on the CPUs, 99 times a second, by stack: a flame graph.
SELECT comm, user_stack, kernel_stack, count(*) AS samples
FROM sample(99) WHERE pid <> 0 GROUP BY ALL ORDER BY samples DESC LIMIT 50
