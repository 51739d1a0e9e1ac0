-- Who is who in a trace that is being recorded, for `dyetrace top TRACE`: host, context, pid, comm, command line.
SELECT host_index, context_id, pid, comm, command FROM internal.raw_task_context
