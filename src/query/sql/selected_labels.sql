-- `events` with what people ask for: at_ns from the begin of the trace ($begin_ns), who, what was done, to what. A process that no fact names is called as its event does.
CREATE OR REPLACE TEMP VIEW _page_events AS
SELECT e.*, epoch_ns(e.time) - $begin_ns AS at_ns, coalesce(p.process, _process_label(e.host, e.exe, e.comm, e.pid), '?') AS process,
       _verb(e.name, e.transfer) AS verb, _target_label(e.name, e.object_type, e.path, e.local_port, e.remote_address, e.remote_port) AS target
FROM events e LEFT JOIN _page_processes p ON p.process_id = e.process_id;
