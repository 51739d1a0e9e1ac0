-- What objects and events are called, and what is called so.

-- statement objects_called: objects that had the name $path at some time. A symbolic link holds no bytes: who asks for one means what it leads to.
SELECT DISTINCT object_id FROM object_names ANTI JOIN (SELECT object_id FROM internal.handles WHERE object_type = 'symlink') USING (object_id) WHERE path = $path ORDER BY 1

-- statement alike: names that may have been meant by $path, and of what a symbolic link led to the name by which a call reached it: all of $path or, as no event says from which working directory,
-- its end. Then those with the same last component. At most $most.
WITH led AS (
  SELECT path, min(argument_path) AS argument_path
  FROM (SELECT path, argument_path, regexp_replace(argument_path, '^([.]{1,2}/+)+', '') AS reached FROM events WHERE argument_path IS NOT NULL AND object_id IS NOT NULL AND object_type <> 'symlink')
  WHERE (reached = $path OR ends_with($path, '/' || reached)) AND path <> reached AND NOT ends_with(path, '/' || reached) GROUP BY path)
FROM led
UNION ALL SELECT DISTINCT path, NULL FROM object_names ANTI JOIN led USING (path) WHERE path <> $path AND ends_with(path, '/' || regexp_extract($path, '[^/]*$'))
ORDER BY argument_path NULLS LAST, path LIMIT $most

-- statement of_objects: object, what people call it; of $ids, numbers with commas between.
SELECT o.object_id, coalesce(s.ends, o.path, o.object_type || ' ' || o.object_id)
FROM objects o LEFT JOIN (
  SELECT object_id, any_value(local_address || ':' || local_port || '→' || remote_address || ':' || remote_port) AS ends
  FROM sockets GROUP BY object_id) s USING (object_id)
WHERE o.object_id IN ($ids)

-- statement of_events: event, who did what to what; of $ids, numbers with commas between.
SELECT event_id, concat_ws(' ', _on_host(host, _process_then(l.process, l.exe, e.exe, comm, pid)), name, path)
FROM events e LEFT JOIN internal.process_labels l ON l.process_id = e.process_id WHERE event_id IN ($ids)

-- statement parts_of_events: event, who (with the node where it is not the host), name, what the first object is called (of a connection its ends, as bytes went or came), the second one (of a copy, the
-- one that bytes went into), of a copy both in the order in which bytes went, start_ns, host, node; of $ids, numbers with commas between.
WITH asked AS (
  SELECT e.*, _process_then(l.process, l.exe, e.exe, comm, pid) AS process, coalesce(local_address, '?') || ':' || local_port AS own_end, coalesce(remote_address, '?') || ':' || remote_port AS far_end,
    CASE WHEN transfer IN ('write', 'copy_from') OR object_type <> 'socket' THEN own_end || '→' || far_end ELSE far_end || '→' || own_end END AS ends, o.process AS _other
  FROM events e LEFT JOIN internal.process_labels l ON l.process_id = e.process_id LEFT JOIN internal.process_labels o ON o.process_id = e.target_process_id WHERE event_id IN ($ids)),
named AS (
  SELECT * REPLACE (CASE WHEN name IN ('process_vm_readv', 'process_vm_writev') THEN 'memory of ' || coalesce(_other, 'another process') WHEN object_type = 'socket' AND ends IS NOT NULL THEN ends ELSE path END AS path,
    CASE WHEN object_type <> 'socket' AND transfer = 'copy_to' AND ends IS NOT NULL THEN ends ELSE path2 END AS path2) FROM asked)
SELECT event_id, CASE WHEN node <> host THEN _on_host(host, node || ':' || process) ELSE _on_host(host, process) END, name, CASE WHEN transfer = 'copy_from' THEN path2 ELSE path END,
  CASE WHEN transfer = 'copy_from' THEN path ELSE path2 END,
  CASE WHEN path IS NULL OR path2 IS NULL THEN path WHEN transfer = 'copy_from' THEN path2 || ' → ' || path
    WHEN transfer IN ('copy_to', 'tee') THEN path || ' → ' || path2 ELSE path END, start_ns, host, node FROM named
