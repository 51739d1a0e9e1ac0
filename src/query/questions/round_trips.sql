-- Round trip times that TCP goes by (smoothed), as packets come in, by ports.
SELECT arguments.sport AS local_port, arguments.dport AS remote_port, count(*) AS packets,
    min(arguments.srtt) AS least_us, round(avg(arguments.srtt))::BIGINT AS mean_us, max(arguments.srtt) AS most_us
FROM tracepoint('tcp', 'tcp_probe') GROUP BY ALL ORDER BY packets DESC LIMIT 30
