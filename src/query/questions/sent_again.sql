-- What TCP had to send again, by ports.
SELECT arguments.sport AS local_port, arguments.dport AS remote_port, count(*) AS segments
FROM tracepoint('tcp', 'tcp_retransmit_skb') GROUP BY ALL ORDER BY segments DESC LIMIT 30
