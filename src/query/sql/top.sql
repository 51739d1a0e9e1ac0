-- Who is who in a trace that is being recorded, for `dyetrace top TRACE`: host, context, pid, comm.
SELECT host_index, context_id, pid, comm FROM internal.raw_task_context
