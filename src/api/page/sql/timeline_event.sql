-- An event as the timeline shows it. Its host's CLOCK_BOOTTIME lay between the two $start_ns: by that it is found without looking at all events.
SELECT at_ns, process, comm, tid, name, class, target, error, result, bytes, requested, duration_ns, on_cpu_ns, file_offset, arguments, path, object_id,
       object_type, (SELECT who FROM _page_processes p WHERE p.process_id = s.process_id) AS who,
       (SELECT user_stack FROM stacks k WHERE k.stack_id = s.stack_id) AS user_stack, (SELECT kernel_stack FROM stacks k WHERE k.stack_id = s.stack_id) AS kernel_stack, event_id
FROM selected s WHERE event_id = $event::BIGINT AND start_ns BETWEEN $start_min_ns::BIGINT AND $start_max_ns::BIGINT
