-- Who exchanges how many bytes with whom over the network.
SELECT comm, remote_address, remote_port, sum(bytes) AS bytes, count(*) AS calls
FROM events WHERE (class = 'network' OR remote_port > 0) AND bytes > 0 GROUP BY ALL ORDER BY bytes DESC LIMIT 30
