-- What moved to and from an object, for `dyetrace cat`. `moves` comes first; the others ask what it made.

-- statement moves: one row per object that an event took bytes from (inbound) or gave them to; and with 0 bytes those that tell a file's size. Gives no rows.
CREATE OR REPLACE TEMP VIEW _cat_moves AS
SELECT object_id, object_type, path, CASE WHEN object_type = 'socket' THEN connection_id END AS connection_id, file_offset, offset_certain,
       CASE WHEN object_type = 'socket' THEN stream_offset END AS stream_offset, bytes, object_size,
       start_ns + coalesce(duration_ns, 0) AS end_ns, event_id, transfer IN ('read', 'copy_to') AS is_inbound, false AS is_truncate
FROM events WHERE bytes > 0 AND object_id IS NOT NULL AND transfer IN ('read', 'write', 'copy_to', 'copy_from')
UNION ALL
SELECT object2_id, o.object_type, path2, CASE WHEN o.object_type = 'socket' THEN connection_id END, file_offset2, offset2_certain,
       CASE WHEN o.object_type = 'socket' THEN stream_offset END, bytes, NULL,
       start_ns + coalesce(duration_ns, 0), event_id, transfer = 'copy_from', false
FROM events JOIN objects o ON o.object_id = object2_id WHERE bytes > 0 AND transfer IN ('copy_to', 'copy_from', 'tee')
UNION ALL
SELECT object_id, object_type, path, NULL, NULL, NULL, NULL, 0, object_size, start_ns + coalesce(duration_ns, 0), event_id, NULL,
       name SIMILAR TO 'f?truncate(64)?'
FROM events WHERE object_size IS NOT NULL AND object_type = 'file' AND coalesce(bytes, 0) <= 0

-- statement objects: object, type, name, whether it was read, whether it was written; the first that ended first. $condition: which ones.
SELECT object_id, any_value(object_type), any_value(coalesce(path, '?')), bool_or(is_inbound), bool_or(NOT is_inbound)
FROM _cat_moves WHERE $condition AND bytes > 0 GROUP BY object_id ORDER BY min(end_ns)

-- statement moves_of: event, whether it is inbound, offset, bytes, size of the file after it, whether the offset is certain, whether it cut the file; in the order of the ends.
-- $offset: file_offset or stream_offset. $inbound: true, false, or NULL for both. At most $most.
SELECT event_id, is_inbound, $offset, bytes, object_size, offset_certain, is_truncate
FROM _cat_moves WHERE object_id = $object AND ($inbound IS NULL OR is_inbound = $inbound OR bytes = 0) ORDER BY end_ns, event_id LIMIT $most
