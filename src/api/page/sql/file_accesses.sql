-- How often an object was read and written, and from when to when.
SELECT access, count(*) AS calls, min(at_ns) AS first_ns, max(at_ns) AS last_ns FROM file_moves($object::BIGINT) GROUP BY access ORDER BY access
