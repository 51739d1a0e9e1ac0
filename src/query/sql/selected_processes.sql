-- What each process is called: what it was called at its end stands for all of its life. `who` is the condition on `events` that says it to people: its pid, of several hosts
-- the host, and its id only where the kernel gave the pid twice. The low 22 bits of an id are the pid.
CREATE OR REPLACE TEMP TABLE _page_processes AS
SELECT process_id, _on_host(name, process) AS process,
       concat_ws(' AND ', CASE WHEN (SELECT count(*) FROM internal.hosts) > 1 THEN 'host = ''' || replace(name, '''', '''''') || '''' END, 'pid = ' || (process_id & 4194303),
                 CASE WHEN count(*) OVER (PARTITION BY host_index, process_id & 4194303) > 1 THEN 'process_id = ' || process_id END) AS who
FROM internal.process_labels JOIN internal.hosts USING (host_index);
