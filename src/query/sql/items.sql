-- Events and objects with what their content is compared by.

-- statement acted: CTEs `moved`, bytes that were looked at, by the call or the part of a call that moved them, and `acted`, the objects of that. sendfile and its kin move them
-- through two objects.
moved AS (
  SELECT host_index, cpu, sequence, handle_id, handle2_id, bytes::UBIGINT AS bytes, CASE WHEN unread_bytes = 0 THEN fingerprint END AS fingerprint
  FROM internal.raw_syscall_event WHERE unread_bytes IS NOT NULL AND bytes > 0
  UNION ALL
  SELECT host_index, cpu, sequence, handle_id, NULL, bytes::UBIGINT, CASE WHEN unread_bytes = 0 THEN fingerprint END
  FROM internal.raw_part_event WHERE unread_bytes IS NOT NULL AND bytes > 0),
acted AS (
  SELECT m.*, h.object_id FROM moved m JOIN internal.handles h ON h.host_index = m.host_index AND h.handle_id = m.handle_id
  UNION
  SELECT m.*, h.object_id FROM moved m JOIN internal.handles h ON h.host_index = m.host_index AND h.handle_id = m.handle2_id)

-- statement events: id, bytes, fingerprint, and the bytes that it is of.
WITH @items_acted
SELECT _event_id(host_index, cpu, sequence) AS id, bytes, fingerprint, bytes AS content_bytes FROM moved ORDER BY id

-- statement objects: the same. An object has a fingerprint if all that ever moved through it moved at once, and was the same.
WITH @items_acted
SELECT object_id AS id, sum(bytes)::UBIGINT AS bytes,
       CASE WHEN min(fingerprint) = max(fingerprint) AND min(bytes) = max(bytes) AND count(fingerprint) = count(*) THEN min(fingerprint) END AS fingerprint,
       max(bytes) AS content_bytes
FROM acted GROUP BY object_id ORDER BY id

-- statement anchors_of_events: id, fingerprint, how often.
SELECT _event_id(host_index, cpu, parent_sequence) AS id, fingerprint, count(*)::UBIGINT AS times FROM internal.raw_anchor GROUP BY ALL

-- statement anchors_of_objects: the same.
WITH @items_acted
SELECT a.object_id AS id, x.fingerprint, count(*)::UBIGINT AS times
FROM internal.raw_anchor x JOIN acted a ON a.host_index = x.host_index AND a.cpu = x.cpu AND a.sequence = x.parent_sequence GROUP BY ALL

-- statement windows_of_events: id, distance, window.
SELECT _event_id(host_index, cpu, parent_sequence) AS id, distance::UBIGINT AS distance, unnest(windows)::UBIGINT AS number FROM internal.raw_sketch

-- statement windows_of_objects: the same, of those that moved $bytes_max bytes at most, $bytes_each in each operation at least, on average, and each time with a sketch.
WITH @items_acted
SELECT a.object_id AS id, s.distance::UBIGINT AS distance, unnest(s.windows)::UBIGINT AS number
FROM acted a JOIN internal.raw_sketch s ON s.host_index = a.host_index AND s.cpu = a.cpu AND s.parent_sequence = a.sequence
WHERE a.object_id IN (
  SELECT object_id FROM acted o LEFT JOIN internal.raw_sketch t ON t.host_index = o.host_index AND t.cpu = o.cpu AND t.parent_sequence = o.sequence
  GROUP BY object_id HAVING count(*) = count(t.parent_sequence) AND sum(o.bytes) BETWEEN $bytes_each * count(*) AND $bytes_max)

-- statement windows_by_level: level, how many windows. $windows: one of those two. The level of a window is what is above its $shift lowest bits.
SELECT number >> $shift AS level, count(*)::UBIGINT FROM ($windows) GROUP BY level

-- statement windows_from_level: id, distance, which is $distance_min at least, and window, from $level on.
SELECT id, greatest(distance, $distance_min)::UBIGINT AS distance, number FROM ($windows) WHERE (number >> $shift) >= $level
