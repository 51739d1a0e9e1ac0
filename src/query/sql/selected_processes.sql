-- What each process is called: what it was called at its end stands for all of its life.
CREATE OR REPLACE TEMP TABLE _page_processes AS SELECT process_id, _process_label(host, exe, comm, pid) AS process FROM processes;
