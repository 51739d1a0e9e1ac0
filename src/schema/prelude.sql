-- Macros and internal tables on which the public views stand. Hand-written; generate.py puts it into views.sql.
CREATE OR REPLACE MACRO _event_id(host_index, cpu, sequence) AS (host_index::UBIGINT << 54) | (cpu::UBIGINT << 42) | sequence;
-- A task is (start, pid): 67 ms units of boot time and 22 bits of pid; a pid does not come round in 67 ms.
CREATE OR REPLACE MACRO _task_id(host_index, start_ns, pid) AS
    (host_index::UBIGINT << 54) | (((start_ns >> 26) & 4294967295::UBIGINT) << 22) | pid::UBIGINT;
CREATE OR REPLACE MACRO _wall_time(boot_ns, wall_offset_ns) AS make_timestamp_ns(boot_ns::BIGINT + wall_offset_ns);
CREATE OR REPLACE MACRO _flags_text(kind, v) AS v::VARCHAR;
CREATE OR REPLACE MACRO _argument_text(kind, v) AS CASE
    WHEN kind IS NULL THEN 'null'
    WHEN kind IN ('int', 'dirfd', 'dirfd2', 'signal', 'clock_id', 'fd_out') THEN
        CASE WHEN (v & 4294967295::UBIGINT) >= 2147483648 THEN ((v & 4294967295::UBIGINT)::BIGINT - 4294967296)::VARCHAR
             ELSE (v & 4294967295::UBIGINT)::VARCHAR END
    WHEN kind IN ('long', 'offset') THEN
        CASE WHEN v >= 9223372036854775808 THEN (v::HUGEINT - 18446744073709551616)::VARCHAR ELSE v::VARCHAR END
    WHEN kind IN ('address') THEN '"' || printf('0x%x', v) || '"'
    ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _arguments_text(template, t0, t1, t2, t3, t4, t5, a0, a1, a2, a3, a4, a5) AS
    format(template, _argument_text(t0, a0), _argument_text(t1, a1), _argument_text(t2, a2), _argument_text(t3, a3),
           _argument_text(t4, a4), _argument_text(t5, a5));
-- A relative name behind the directory that it starts from; '.', '..' and '//' are taken out of the text, as no link is followed.
CREATE OR REPLACE MACRO _plain_path(p) AS CASE WHEN NOT regexp_matches(p, '(^|/)\.{0,2}(/|$)') OR p = '/' THEN p ELSE
    '/' || array_to_string(list_reduce(list_prepend([]::VARCHAR[], list_transform(string_split(p, '/'), lambda part: [part])),
        lambda done, part: CASE WHEN part[1] IN ('', '.') THEN done WHEN part[1] = '..' THEN done[:-2] ELSE done || part END), '/') END;
CREATE OR REPLACE MACRO _join_path(base, p) AS _plain_path(CASE WHEN p = '' THEN base WHEN base = '/' THEN '/' || p ELSE base || '/' || p END);
CREATE OR REPLACE MACRO _family_name(v) AS CASE v WHEN 1 THEN 'unix' WHEN 2 THEN 'inet' WHEN 10 THEN 'inet6' WHEN 16 THEN 'netlink'
    WHEN 17 THEN 'packet' WHEN 38 THEN 'alg' WHEN 40 THEN 'vsock' WHEN 44 THEN 'xdp' ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _socket_type_name(v) AS CASE v WHEN 1 THEN 'stream' WHEN 2 THEN 'datagram' WHEN 3 THEN 'raw'
    WHEN 5 THEN 'seqpacket' ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _protocol_name(v) AS CASE v WHEN 0 THEN 'default' WHEN 1 THEN 'icmp' WHEN 6 THEN 'tcp' WHEN 17 THEN 'udp'
    WHEN 58 THEN 'icmpv6' WHEN 132 THEN 'sctp' WHEN 262 THEN 'mptcp' ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _container_of(cgroup) AS nullif(regexp_extract(cgroup, '([0-9a-f]{64}|lxc/[^/]+|machine-[^/]+\.scope)', 1), '');

-- Facts, once each: announcements are repeated after a loss.
CREATE OR REPLACE TABLE _contexts AS
SELECT host_index, context_id, any_value(pid) AS pid, any_value(tid) AS tid, any_value(ppid) AS ppid,
       any_value(pid_in_namespace) AS pid_in_namespace, any_value(comm) AS comm, any_value(exe) AS exe, any_value(uid) AS uid,
       any_value(cgroup_id) AS cgroup_id, any_value(_container_of(cgroup)) AS container,
       any_value(network_namespace) AS network_namespace, any_value(mount_namespace) AS mount_namespace,
       any_value(process_start_ns) AS process_start_ns, any_value(thread_start_ns) AS thread_start_ns,
       min(valid_from_ns) AS valid_from_ns, NULL::VARCHAR AS node,
       any_value(_task_id(host_index, process_start_ns, pid)) AS process_id,
       any_value(_task_id(host_index, thread_start_ns, tid)) AS thread_id,
       any_value(CASE WHEN parent_start_ns > 0 THEN _task_id(host_index, parent_start_ns, ppid) END) AS parent_process_id
FROM raw_task_context GROUP BY host_index, context_id;

CREATE OR REPLACE TABLE _handles AS
WITH handle AS (
    SELECT host_index, handle_id, any_value(object_id) AS kernel_object_id, any_value(device) AS device, any_value(inode) AS inode,
           any_value(generation) AS generation, any_value(serial) AS serial, any_value(mount_id) AS mount_id, any_value(mode) AS mode,
           any_value(_object_type_name(object_type)) AS object_type, any_value(file_system) AS file_system,
           any_value(path) AS path, min(valid_from_ns) AS valid_from_ns
    FROM raw_handle GROUP BY host_index, handle_id),
ends AS (
    SELECT host_index, handle_id, any_value(cookie) AS cookie, any_value(family) AS family, any_value(socket_type) AS socket_type,
           any_value(protocol) AS protocol, any_value(local_address) AS local_address, any_value(local_port) AS local_port,
           any_value(remote_address) AS remote_address, any_value(remote_port) AS remote_port,
           nullif(max(connection_id), 0) AS connection_id, any_value(network_namespace) AS network_namespace,
           any_value(path) AS unix_path
    FROM raw_socket GROUP BY host_index, handle_id)
SELECT h.host_index, h.handle_id, (h.host_index::UBIGINT << 54) | h.kernel_object_id AS object_id, h.device, h.inode, h.generation,
       h.serial, h.mount_id, h.mode, h.object_type, h.file_system, coalesce(s.unix_path, h.path) AS path, h.valid_from_ns,
       s.cookie, s.family, s.socket_type, s.protocol, s.local_address,
       nullif(s.local_port, 0) AS local_port, s.remote_address, nullif(s.remote_port, 0) AS remote_port, s.connection_id, s.network_namespace
FROM handle h LEFT JOIN ends s USING (host_index, handle_id);
