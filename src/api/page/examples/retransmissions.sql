-- What TCP sent again on sockets that a process used.
SELECT epoch_ns(time) - (SELECT epoch_ns(time) - at_ns FROM selected LIMIT 1) AS at_ns, r.* FROM retransmissions r
WHERE object_id IN (SELECT object_id FROM selected WHERE process_id = $process_id AND object_type = 'socket' AND verb IS NOT NULL)
ORDER BY at_ns LIMIT 1000
