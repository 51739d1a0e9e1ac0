-- The trace with each call of a kernel once, as analyses read it: the tables of its records without the twins that a second agent on the kernel has of them (table twins). Processes,
-- threads and objects have the ids that the first of its hosts gives them.
CREATE OR REPLACE VIEW internal.lone_calls AS FROM internal.raw_syscall_event WHERE NOT _is_twin(_event_id(host_index, cpu, sequence)::UBIGINT);

CREATE OR REPLACE VIEW internal.lone_parts AS FROM internal.raw_part_event WHERE NOT _is_twin(_event_id(host_index, cpu, sequence)::UBIGINT);

CREATE OR REPLACE VIEW internal.lone_signals AS FROM internal.raw_signal_event WHERE NOT _is_twin(_event_id(host_index, cpu, sequence)::UBIGINT);

CREATE OR REPLACE VIEW internal.lone_contexts AS
SELECT c.* REPLACE (_of_kernel(process_id, kernel) AS process_id, _of_kernel(thread_id, kernel) AS thread_id, _of_kernel(parent_process_id, kernel) AS parent_process_id), kernel
FROM internal.contexts c JOIN internal.kernels USING (host_index);

CREATE OR REPLACE VIEW internal.lone_handles AS
SELECT h.* REPLACE (coalesce(t.first_id, h.object_id) AS object_id)
FROM internal.handles h LEFT JOIN (SELECT id, first_id FROM internal.derived_twins WHERE kind = {item_kind.object}) t ON t.id = h.object_id;

-- Of which connection each handle of a socket is: a socket may be disconnected and connected again. Of a handle that was seen when that could not be told it is the one that the socket had, if it
-- had but one.
CREATE OR REPLACE VIEW internal.lone_connections AS
SELECT host_index, handle_id, object_id, coalesce(connection_id, CASE WHEN first_id = last_id THEN first_id END) AS connection_id
FROM (SELECT host_index, handle_id, object_id, connection_id, min(connection_id) OVER same AS first_id, max(connection_id) OVER same AS last_id
      FROM internal.lone_handles WHERE family IS NOT NULL WINDOW same AS (PARTITION BY object_id))
WHERE first_id IS NOT NULL;

CREATE OR REPLACE VIEW internal.lone_thread_ends AS
SELECT _task_id(kernel, t.process_start_ns, t.pid) AS process_id, _task_id(kernel, t.thread_start_ns, t.tid) AS thread_id, t.pid, t.tid, max(t.end_ns) AS end_ns
FROM internal.raw_thread_end t JOIN internal.kernels USING (host_index) GROUP BY ALL
