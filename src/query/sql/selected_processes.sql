-- What each process is called: what it was called at its end stands for all of its life.
CREATE OR REPLACE TEMP TABLE _page_processes AS SELECT process_id, _on_host(name, process) AS process FROM internal.process_labels JOIN internal.hosts USING (host_index);
