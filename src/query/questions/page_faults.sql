-- Pages that programs touched for the first time, by stack.
SELECT comm, user_stack, count(*) AS faults
FROM tracepoint('exceptions', 'page_fault_user') GROUP BY ALL ORDER BY faults DESC LIMIT 30
