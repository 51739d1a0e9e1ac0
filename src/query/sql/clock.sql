-- Clocks of hosts and of the cluster.

-- statement hosts: host, its wall clock minus CLOCK_BOOTTIME, first and last time of its events, the first host of its kernel; by host. Each record with a time of its own counts.
SELECT o.host_index::UBIGINT, o.wall_offset_ns::BIGINT, t.first_ns, t.last_ns, k.kernel::UBIGINT FROM internal.hosts o JOIN internal.kernels k USING (host_index) LEFT JOIN (
  SELECT host_index, min(start_ns) AS first_ns, max(start_ns + coalesce(duration_ns, 0)) AS last_ns FROM (
    SELECT host_index, start_ns, duration_ns FROM internal.raw_syscall_event UNION ALL SELECT host_index, start_ns, NULL FROM internal.raw_signal_event UNION ALL
    SELECT host_index, time_ns, NULL FROM internal.raw_retransmission)
  GROUP BY 1) t USING (host_index) ORDER BY 1

-- statement make: has the map made; gives no rows.
SELECT 1 FROM internal.derived_clock_map LIMIT 0

-- statement pieces: host, stretch of its clock, the cluster's clock at both ends, uncertainty below and above at the begin, the same at the end.
SELECT host_index, from_ns, to_ns, cluster_ns, cluster_to_ns, below_ns, above_ns, below_to_ns, above_to_ns
FROM internal.derived_clock_map WHERE from_ns < to_ns ORDER BY 1, 2

-- statement wall_offsets_of_several: host, its wall clock minus CLOCK_BOOTTIME; nothing if there is one host only.
SELECT host_index, wall_offset_ns FROM hosts WHERE (SELECT count(*) FROM hosts) > 1

-- statement wall_offsets: host, its wall clock when it booted.
SELECT host_index, epoch_ns(_wall_time(0, wall_offset_ns))::UBIGINT FROM internal.hosts
