-- socket_uses(): the calls of the selection that moved bytes through a socket, or would have, each once for each socket: it may be the second object of a call (splice), and `transfer`
-- is what was done to it.
CREATE OR REPLACE TEMP MACRO socket_uses() AS TABLE
WITH ends_of AS (
  SELECT object_id, arg_max(local_port, valid_from_ns) AS local_port, arg_max(remote_address, valid_from_ns) AS remote_address, arg_max(remote_port, valid_from_ns) AS remote_port,
         max(connection_id) AS connection_id
  FROM sockets GROUP BY object_id)
SELECT process_id, process, object_id, connection_id, host, target, at_ns, event_id, greatest(coalesce(bytes, 0), 0) AS bytes, verb, transfer, error,
       coalesce(duration_ns, 0) AS duration_ns, coalesce(duration_ns - on_cpu_ns, 0) AS waited_ns
FROM selected_calls() WHERE object_type = 'socket' AND transfer IS NOT NULL
UNION ALL
SELECT process_id, process, object2_id, k.connection_id, host, _target_label(name, 'socket', path2, k.local_port, k.remote_address, k.remote_port), at_ns, event_id,
       greatest(coalesce(bytes, 0), 0), verb, CASE transfer WHEN 'copy_from' THEN 'copy_to' ELSE 'copy_from' END, error,
       coalesce(duration_ns, 0), coalesce(duration_ns - on_cpu_ns, 0)
FROM selected_calls() s JOIN ends_of k ON k.object_id = s.object2_id WHERE transfer IN ('copy_to', 'copy_from', 'tee');
