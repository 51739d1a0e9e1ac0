-- What proves a finding of `dyetrace report`: one statement for each kind, as people may paste it into `dyetrace sql`.
-- $who: `pid = 4711`, of several hosts `host = 'db1' and pid = 4711`; of a thread its tid.

-- statement killed_by_signal: the signal as it came.
select * from events where $who and name = 'signal_deliver' and result = $signal order by start_ns

-- statement sent_again: what TCP sent again on sockets of the process.
select * from retransmissions where object_id in (select object_id from events where $who and object_type = 'socket') order by time_ns

-- statement unseen_ring: the calls that gave operations to a ring.
select * from events where $who and name = 'io_uring_enter' and result > 0 order by start_ns

-- statement polled_ring: the calls that made rings.
select * from events where $who and name = 'io_uring_setup' and error is null order by start_ns

-- statement sync_share: the syncs of the file.
select * from events where $who and name in ('fsync', 'fdatasync', 'msync', 'sync_file_range') and path = $path order by start_ns

-- statement small_transfers: the small ones.
select * from events where $who and path = $path and bytes < 512 order by start_ns

-- statement repeated_opens: each time that it was opened.
select * from events where $who and path = $path and name like 'open%' order by start_ns

-- statement failing_calls: the calls that failed so.
select * from events where $who and name = $call and error = $error order by start_ns

-- statement blocked_thread: the calls and files that it waited for, longest first.
select name, path, sum(duration_ns - on_cpu_ns) from events where $who and class in ('file', 'metadata') group by all order by 3 desc
