-- Macros and internal tables on which the public views stand. Hand-written; generate.py puts it into views.sql.
CREATE OR REPLACE MACRO _event_id(host_index, cpu, sequence) AS (host_index::UBIGINT << 54) | (cpu::UBIGINT << 42) | sequence;
-- A task is (start, pid): 67 ms units of boot time and 22 bits of pid; a pid does not come round in 67 ms.
CREATE OR REPLACE MACRO _task_id(host_index, start_ns, pid) AS
    (host_index::UBIGINT << 54) | (((start_ns >> 26) & 4294967295::UBIGINT) << 22) | pid::UBIGINT;
-- What is on a host, as people say it where there are several.
CREATE OR REPLACE MACRO _on_host(host, what) AS CASE WHEN (SELECT count(*) FROM internal.hosts) > 1 THEN host || ':' || what ELSE what END;
-- Who did what to what, as people say it: cat[812], wrote, 10.0.0.7:443.
CREATE OR REPLACE MACRO _process_words(host, exe, comm, pid) AS
    _on_host(host, coalesce(nullif(regexp_extract(exe, '([^/]+?)( \(deleted\))?$', 1), ''), comm, '?') || '[' || pid || ']');
CREATE OR REPLACE MACRO _verb(name, transfer) AS CASE WHEN name IN ('fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync') THEN 'synced'
    WHEN transfer IN ('copy_to', 'copy_from', 'tee') THEN 'copied'
    WHEN transfer IN ('read', 'peek') THEN 'read'
    WHEN transfer = 'write' THEN 'wrote' END;
CREATE OR REPLACE MACRO _target_words(name, object_type, path, local_port, remote_address, remote_port) AS
    CASE WHEN object_type = 'socket' AND remote_port IS NOT NULL THEN
              CASE WHEN local_port < remote_port AND local_port < 32768 THEN 'clients of :' || local_port
                   WHEN contains(remote_address, ':') THEN '[' || remote_address || ']:' || remote_port
                   ELSE remote_address || ':' || remote_port END
         WHEN object_type = 'socket' AND starts_with(path, 'socket:[') THEN coalesce(remote_address, path)
         WHEN name = 'sync' THEN 'all file systems'
         ELSE coalesce(path, '?') END;
CREATE OR REPLACE MACRO _wall_time(boot_ns, wall_offset_ns) AS make_timestamp_ns(boot_ns::BIGINT + wall_offset_ns);
-- One clock for several hosts: clock_map.h does the same in C++. Pieces are found by where they lie in steps of a quarter of a second.
CREATE OR REPLACE MACRO _clock_bucket(boot_ns) AS (boot_ns >> 28)::BIGINT;
CREATE OR REPLACE MACRO _clock_share(boot_ns, from_ns, to_ns) AS (boot_ns - from_ns)::DOUBLE / (to_ns - from_ns)::DOUBLE;
CREATE OR REPLACE MACRO _cluster_time(boot_ns, from_ns, to_ns, cluster_ns, cluster_to_ns) AS make_timestamp_ns(cluster_ns::BIGINT + (boot_ns - from_ns)::BIGINT +
    floor(((cluster_to_ns::BIGINT - cluster_ns::BIGINT) - (to_ns - from_ns)::BIGINT)::DOUBLE * _clock_share(boot_ns, from_ns, to_ns))::BIGINT);
CREATE OR REPLACE MACRO _between(low, high, share) AS low + (high::DOUBLE - low::DOUBLE) * share;
-- Sets of flags by the types of arguments that they belong to, and calls by number, out of what syscalls.parquet and flags.parquet say.
CREATE OR REPLACE MACRO _number_in(word) AS split_part(split_part(word, '=', 2), '/', 1)::UBIGINT;
CREATE OR REPLACE MACRO _command_of(choice) AS split_part(choice, '=', 1)::UBIGINT;
CREATE OR REPLACE MACRO _type_behind(choice) AS split_part(choice, '=', 2);
CREATE OR REPLACE TABLE internal.flag_sets AS SELECT unnest(string_split(types, ',')) AS type, pair, {'width': width, 'field': field,
    'rest_mask': rest_mask, 'nameless': nameless, 'numbers': [_number_in(w) FOR w IN string_split("values", ',')],
    'names': [split_part(w, '=', 1) FOR w IN string_split("values", ',')],
    'bits': [{'bit': _number_in(w), 'cover': coalesce(nullif(split_part(w, '/', 2), ''), '0')::UBIGINT, 'name': split_part(w, '=', 1)}
             FOR w IN string_split(bits, ',')], 'zero': zero, 'rest': rest, 'last': last} AS words FROM internal.flag_words;
CREATE OR REPLACE TABLE internal.syscalls AS
WITH calls AS (SELECT name, unnest([0, 1, 2]) AS abi, unnest([x86_64, i386, coalesce(x32, x86_64)]) AS number,
                      string_split(unnest([arguments, coalesce(arguments_i386, arguments), arguments]), ',') AS words, string_split(choices, ',') AS choices, transfer, cuts FROM internal.call_words),
typed AS (SELECT *, [nullif(split_part(w, ':', 2), '') FOR w IN words] AS types FROM calls WHERE number IS NOT NULL),
sets AS (SELECT map_from_entries(list((type, words))) AS by_type, list(type) FILTER (pair) AS pairs FROM internal.flag_sets)
SELECT abi, number, name, coalesce(list_contains(pairs, types[3]), false) AS pair, ['"' || nullif(split_part(w, ':', 1), '') || '":' FOR w IN words] AS labels,
       types, list_transform(types, lambda word: by_type[word]) AS sets,
       map_from_entries([{'k': _command_of(w), 'v': {'kind': _type_behind(w), 'words': by_type[_type_behind(w)]}} FOR w IN choices]) AS choices,
       transfer, list_position(types, 'message_flags') AS message_flags_at, CASE WHEN cuts = 'allocate' AND abi = 1 THEN 'allocate_split' ELSE cuts END AS cuts FROM typed, sets;
-- What an event does with the bytes of its objects, out of what its call does. MSG_PEEK (2) leaves them where they are. With MSG_ERRQUEUE (8192) what
-- comes is no byte of the object: the kernel gives back what the socket had sent. vmsplice follows the mode in which its pipe is open.
CREATE OR REPLACE MACRO _message_flags(flags_at, argument2, argument3) AS CASE flags_at WHEN 3 THEN argument2 WHEN 4 THEN argument3 ELSE 0 END;
CREATE OR REPLACE MACRO _transfer(transfer, open_flags, message_flags) AS CASE transfer
    WHEN 'read' THEN CASE WHEN message_flags & 8192 <> 0 THEN NULL WHEN message_flags & 2 <> 0 THEN 'peek' ELSE 'read' END
    WHEN 'by_mode' THEN CASE WHEN open_flags & 3 = 0 THEN 'read' WHEN open_flags IS NOT NULL THEN 'write' END
    ELSE transfer END;
-- The words of a number. `s` is a set of flags (internal.flag_sets.words), `v` the raw register; flags.cpp does the same in C++.
-- All arguments go through one lambda, so that a query that never shows them is not planned for six copies of it.
CREATE OR REPLACE MACRO _signed(v) AS CASE WHEN (v & 4294967295::UBIGINT) >= 2147483648
    THEN ((v & 4294967295::UBIGINT)::BIGINT - 4294967296)::VARCHAR ELSE (v & 4294967295::UBIGINT)::VARCHAR END;
CREATE OR REPLACE MACRO _field_word(s, v) AS s.names[list_position(s.numbers, v & s.field)];
CREATE OR REPLACE MACRO _bit_words(s, v) AS array_to_string([b.name FOR b IN s.bits
    IF (v & b.bit) = b.bit AND (b.cover = 0 OR (v & s.width & b.cover) <> b.cover)], '|');
CREATE OR REPLACE MACRO _rest_text(s, rest) AS CASE s.rest WHEN 'hex' THEN CASE WHEN rest <> 0 THEN format('{:#x}', rest) END
    WHEN 'octal' THEN '0' || lpad(format('{:o}', rest), greatest(2, length(format('{:o}', rest)))::INTEGER, '0') END;
CREATE OR REPLACE MACRO _join_words(s, word, bits, rest) AS
    coalesce(nullif(CASE WHEN s.last THEN concat_ws('|', bits, rest, word) ELSE concat_ws('|', word, bits, rest) END, ''), s.zero);
CREATE OR REPLACE MACRO _set_text(s, v, word) AS CASE WHEN word IS NULL AND s.rest = 'decimal' THEN _signed(v) ELSE
    '"' || _join_words(s, word, nullif(_bit_words(s, v), ''), _rest_text(s, v & CASE WHEN word IS NULL THEN s.nameless ELSE s.rest_mask END)) || '"' END;
CREATE OR REPLACE MACRO _argument_text(kind, s, v) AS CASE
    WHEN s IS NOT NULL THEN _set_text(s, v, _field_word(s, v))
    WHEN kind IN ('int', 'fd', 'fd2') OR (kind = 'id' AND (v & 4294967295::UBIGINT) = 4294967295) THEN _signed(v)
    WHEN kind IN ('long', 'offset', 'offset_low') THEN
        CASE WHEN v >= 9223372036854775808 THEN (v::HUGEINT - 18446744073709551616)::VARCHAR ELSE v::VARCHAR END
    WHEN kind = 'address' THEN '"' || format('{:#x}', v) || '"'
    ELSE v::VARCHAR END;
-- `c` is what a command says of the argument behind it.
CREATE OR REPLACE MACRO _chosen_text(c, v) AS CASE WHEN c IS NULL THEN v::VARCHAR WHEN c.kind <> '' THEN _argument_text(c.kind, c.words, v) END;
-- Most calls have numbers only. What a command says of the argument behind it, and strings beside the registers, are made once for a
-- row: inside the lambda each argument would pay for them.
CREATE OR REPLACE MACRO _number_texts(labels, types, sets, numbers) AS '{' || coalesce(array_to_string(list_transform(numbers,
    lambda v, i: labels[i] || _argument_text(types[i], sets[i], v)), ','), '') || '}';
CREATE OR REPLACE MACRO _given_texts(choices, command, v, name, name2) AS {
    'chosen': CASE WHEN choices IS NOT NULL THEN _chosen_text(choices[command & 4294967295::UBIGINT], v) END,
    'name': CASE WHEN name IS NOT NULL THEN to_json(name)::VARCHAR END, 'name2': CASE WHEN name2 IS NOT NULL THEN to_json(name2)::VARCHAR END};
CREATE OR REPLACE MACRO _mixed_texts(labels, types, sets, given, numbers) AS '{' || coalesce(array_to_string(list_transform(numbers,
    lambda v, i: labels[i] || CASE types[i] WHEN 'by_command' THEN given.chosen WHEN 'name' THEN given.name WHEN 'name2' THEN given.name2
        ELSE _argument_text(types[i], sets[i], v) END), ','), '') || '}';
CREATE OR REPLACE MACRO _arguments_text(labels, types, sets, pair, choices, a0, a1, a2, a3, a4, a5, name, name2) AS
    CASE WHEN labels IS NULL THEN NULL
    WHEN list_has_any(types, ['by_command', 'name', 'name2']) THEN list_transform(
        [_given_texts(choices, CASE WHEN types[2] = 'by_command' THEN a0 ELSE a1 END, CASE WHEN types[2] = 'by_command' THEN a1 ELSE a2 END, name, name2)],
        lambda given: _mixed_texts(labels, types, sets, given, [a0, a1, a2, a3, a4, a5]))[1]
    ELSE _number_texts(labels, types, sets,
        [a0, a1, CASE WHEN pair THEN ((a1 & 4294967295::UBIGINT) << 32) | (a2 & 4294967295::UBIGINT) ELSE a2 END, a3, a4, a5]) END;
-- What `events` asks; a program that can say it sooner puts its own function here.
CREATE OR REPLACE MACRO _arguments(abi, syscall, labels, types, sets, pair, choices, a0, a1, a2, a3, a4, a5, name, name2) AS
    _arguments_text(labels, types, sets, pair, choices, a0, a1, a2, a3, a4, a5, name, name2);
-- A signal: signals.cpp does the same in C++. Codes that any signal may have are not above 0, but for SI_KERNEL (128).
CREATE OR REPLACE TABLE internal.signal_sets AS SELECT any_value(words) FILTER (type = 'signal') AS signals,
    any_value(words) FILTER (type = 'signal_code') AS codes FROM internal.flag_sets;
CREATE OR REPLACE MACRO _signal_code_text(codes, signal, code) AS _argument_text('signal_code', codes,
    (CASE WHEN code > 0 AND code <> 128 THEN signal::UBIGINT << 32 ELSE 0::UBIGINT END) | (code::BIGINT & 4294967295)::UBIGINT);
CREATE OR REPLACE MACRO _signal_text(signals, codes, signal, code, pid, uid, status, utime, stime, timer, overrun, v, address) AS
    '{' || concat_ws(',', '"signal":' || _argument_text('signal', signals, signal::UBIGINT), '"code":' || _signal_code_text(codes, signal, code),
    '"pid":' || pid, '"uid":' || uid, '"status":' || status, '"utime":' || utime, '"stime":' || stime, '"timer":' || timer,
    '"overrun":' || overrun, '"value":' || v, '"address":"' || format('{:#x}', address) || '"') || '}';
-- A relative name behind the directory that it starts from; '.', '..' and '//' are taken out of the text, as no link is followed.
CREATE OR REPLACE MACRO _plain_path(p) AS CASE WHEN p IS NULL OR p = '/' OR NOT regexp_matches(p, '(^|/)\.{0,2}(/|$)') THEN p ELSE
    '/' || coalesce(array_to_string(list_reduce(list_prepend([]::VARCHAR[], list_transform(string_split(p, '/'), lambda part: [part])),
        lambda done, part: CASE WHEN part[1] IN ('', '.') THEN done WHEN part[1] = '..' THEN done[:-2] ELSE done || part END), '/'), '') END;
CREATE OR REPLACE MACRO _join_path(base, p) AS _plain_path(CASE WHEN p = '' THEN base WHEN base = '/' THEN '/' || p ELSE base || '/' || p END);
CREATE OR REPLACE MACRO _family_name(v) AS CASE v WHEN 1 THEN 'unix' WHEN 2 THEN 'inet' WHEN 10 THEN 'inet6' WHEN 16 THEN 'netlink'
    WHEN 17 THEN 'packet' WHEN 38 THEN 'alg' WHEN 40 THEN 'vsock' WHEN 44 THEN 'xdp' ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _socket_type_name(v) AS CASE v WHEN 1 THEN 'stream' WHEN 2 THEN 'datagram' WHEN 3 THEN 'raw'
    WHEN 5 THEN 'seqpacket' ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _protocol_name(v) AS CASE v WHEN 0 THEN 'default' WHEN 1 THEN 'icmp' WHEN 6 THEN 'tcp' WHEN 17 THEN 'udp'
    WHEN 58 THEN 'icmpv6' WHEN 132 THEN 'sctp' WHEN 262 THEN 'mptcp' ELSE v::VARCHAR END;
CREATE OR REPLACE MACRO _container_of(cgroup) AS nullif(regexp_extract(cgroup, '([0-9a-f]{64}|lxc/[^/]+|machine-[^/]+\.scope)', 1), '');
-- What people call a container: docker's short form of an id, else the last word.
CREATE OR REPLACE MACRO _short_container(container) AS
    CASE WHEN regexp_full_match(container, '[0-9a-f]{64}') THEN left(container, 12) ELSE regexp_extract(container, '[^/]*$') END;
-- The label of --node-by; the host's name for what is in no container, or in the network namespace of the host itself.
CREATE OR REPLACE MACRO _node(node_by, host, host_network_namespace, container, network_namespace, network_name) AS CASE
    WHEN node_by = 'container' THEN coalesce(_short_container(container), host)
    WHEN node_by = 'netns' AND network_namespace <> host_network_namespace THEN coalesce(network_name, 'net:[' || network_namespace || ']')
    ELSE host END;

-- @ stands for the NUL of an abstract name; a path ends at its NUL.
CREATE OR REPLACE MACRO _unix_name(v) AS CASE WHEN v = '' THEN NULL WHEN starts_with(v, '\x00') THEN '@' || substr(v, 5)
    ELSE split_part(v, '\x00', 1) END;
-- What has no place in a file system is named by its inode.
CREATE OR REPLACE MACRO _readable_name(object_type, inode, path, file_system) AS CASE
    WHEN object_type = 'socket' THEN CASE WHEN starts_with(path, '/') THEN path ELSE 'socket:[' || inode || ']' END
    WHEN object_type = 'pipe' THEN CASE WHEN starts_with(path, '/') THEN path ELSE 'pipe:[' || inode || ']' END
    WHEN file_system = 'pidfs' THEN 'pidfd:[' || inode || ']'
    WHEN file_system = 'nsfs' THEN coalesce(path, 'namespace') || ':[' || inode || ']'
    WHEN object_type = 'anonymous' THEN 'anon_inode:' || coalesce(path, '')
    ELSE path END;
-- Of a socket that has no such end yet the kernel shows zeros.
CREATE OR REPLACE MACRO _known_address(address, port) AS CASE WHEN NOT (port = 0 AND address IN ('0.0.0.0', '::')) THEN address END;

-- 32 bits that stand for an address, by which the ends of a datagram are compared; 0: not known. Each host has a loopback of its own.
CREATE OR REPLACE MACRO _address_number(address, host_index) AS CASE WHEN address IS NULL OR address IN ('0.0.0.0', '::') THEN 0::UBIGINT
    ELSE greatest(hash(regexp_replace(address, '^::ffff:', ''), CASE WHEN regexp_matches(address, '^(::ffff:)?127\.|^::1$') THEN host_index END) & 4294967295, 1)::UBIGINT END;

-- Facts, once each: announcements are repeated after a loss.
CREATE OR REPLACE TABLE internal.contexts AS
WITH names AS (SELECT host_index, network_namespace, arg_min(text, time_ns) AS network_name FROM internal.raw_namespace_name GROUP BY ALL)
SELECT host_index, context_id, any_value(pid) AS pid, any_value(tid) AS tid, any_value(ppid) AS ppid,
       any_value(pid_in_namespace) AS pid_in_namespace, any_value(comm) AS comm, any_value(exe) AS exe, any_value(uid) AS uid,
       any_value(cgroup_id) AS cgroup_id, any_value(_container_of(cgroup)) AS container,
       any_value(network_namespace) AS network_namespace, any_value(network_name) AS network_name, any_value(mount_namespace) AS mount_namespace,
       any_value(process_start_ns) AS process_start_ns, any_value(thread_start_ns) AS thread_start_ns,
       min(valid_from_ns) AS valid_from_ns,
       any_value(_task_id(host_index, process_start_ns, pid)) AS process_id,
       any_value(_task_id(host_index, thread_start_ns, tid)) AS thread_id,
       any_value(CASE WHEN parent_start_ns > 0 THEN _task_id(host_index, parent_start_ns, ppid) END) AS parent_process_id
FROM internal.raw_task_context LEFT JOIN names USING (host_index, network_namespace) GROUP BY host_index, context_id;

CREATE OR REPLACE TABLE internal.handles AS
WITH handle AS (
    SELECT host_index, handle_id, any_value(object_id) AS kernel_object_id, any_value(device) AS device, any_value(inode) AS inode,
           any_value(generation) AS generation, any_value(serial) AS serial, any_value(mount_id) AS mount_id, any_value(mode) AS mode,
           any_value(_object_type_name(object_type)) AS object_type, any_value(file_system) AS file_system,
           any_value(path) AS path, min(valid_from_ns) AS valid_from_ns
    FROM internal.raw_handle GROUP BY host_index, handle_id),
ends AS (
    SELECT host_index, handle_id, any_value(cookie) AS cookie, any_value(family) AS family, any_value(socket_type) AS socket_type,
           any_value(protocol) AS protocol, any_value(local_address) AS local_address, any_value(local_port) AS local_port,
           any_value(remote_address) AS remote_address, any_value(remote_port) AS remote_port,
           nullif(max(connection_id), 0) AS connection_id, any_value(network_namespace) AS network_namespace,
           any_value(_unix_name(path)) AS unix_path, any_value(_unix_name(path2)) AS unix_peer_path
    FROM internal.raw_socket GROUP BY host_index, handle_id)
SELECT h.host_index, h.handle_id, (h.host_index::UBIGINT << 54) | min(h.kernel_object_id) OVER (
           PARTITION BY h.host_index, h.device, h.inode, h.generation, h.serial) AS object_id, h.device, h.inode, h.generation,
       h.serial, h.mount_id, h.mode, h.object_type, h.file_system, coalesce(s.unix_path, _readable_name(h.object_type, h.inode, h.path, h.file_system)) AS path, h.valid_from_ns,
       s.cookie, s.family, s.socket_type, s.protocol, coalesce(_known_address(s.local_address, s.local_port), s.unix_path) AS local_address,
       nullif(s.local_port, 0) AS local_port, coalesce(_known_address(s.remote_address, s.remote_port), s.unix_peer_path) AS remote_address, nullif(s.remote_port, 0) AS remote_port, s.connection_id, s.network_namespace
FROM handle h LEFT JOIN ends s USING (host_index, handle_id);

-- What ended waits: woken_by(event), woken_by_each(list of events). All of it is found by what a wait itself says, without a pass over the trace (docs/causality.md).
CREATE OR REPLACE MACRO _poll_calls() AS ['poll', 'ppoll', 'ppoll_time64', 'select', '_newselect', 'pselect6', 'pselect6_time64', 'epoll_wait', 'epoll_pwait', 'epoll_pwait2'];
CREATE OR REPLACE MACRO _futex_calls() AS ['futex', 'futex_time64'];
CREATE OR REPLACE MACRO _sleep_calls() AS ['nanosleep', 'clock_nanosleep', 'clock_nanosleep_time64'];
CREATE OR REPLACE MACRO _polled_words(object_type, path, local_port, remote_address, remote_port) AS nullif(CASE
    WHEN object_type = 'socket' AND remote_port IS NULL AND local_port IS NOT NULL THEN 'clients of :' || local_port
    ELSE _target_words(NULL, object_type, path, local_port, remote_address, remote_port) END, '?');
CREATE OR REPLACE MACRO woken_by_each(waits) AS TABLE
WITH asked AS (SELECT DISTINCT id::UBIGINT AS wait, (id::UBIGINT >> 54)::USMALLINT AS host_index, ((id::UBIGINT >> 42) & 4095)::USMALLINT AS cpu, id::UBIGINT & 4398046511103 AS sequence
  FROM (SELECT unnest(waits) AS id)),
own AS (
  SELECT a.wait, a.host_index, a.cpu, a.sequence, c.process_id, c.thread_id, c.pid = c.pid_in_namespace AS is_outermost, e.result, e.start_ns, e.start_ns + coalesce(e.duration_ns, 0) AS end_ns,
         e.argument0, e.argument1, e.argument2, k.name LIKE 'epoll%' AS is_epoll, list_contains(_poll_calls(), k.name) AS is_poll, list_contains(_sleep_calls(), k.name) AS is_sleep,
         list_contains(_futex_calls(), k.name) AND e.argument1 & 127 IN (0, 9) AS is_futex, e.result IN (-4, -512, -513, -514, -516) AS is_interrupted
  FROM internal.raw_syscall_event e JOIN asked a ON e.host_index = a.host_index AND e.cpu = a.cpu AND e.sequence = a.sequence
  JOIN internal.contexts c ON c.host_index = e.host_index AND c.context_id = e.context_id JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE list_contains(list_concat(_poll_calls(), list_concat(_futex_calls(), _sleep_calls())), k.name)),
named AS (
  SELECT own.wait, CASE WHEN o.events <> 0 OR is_epoll THEN 'ready' ELSE 'not_ready' END AS rule, h.object_id, nullif(o.fd, -1) AS fd,
         CASE WHEN o.range_begin >= 0 AND is_epoll THEN (o.range_end - o.range_begin) || ' more' WHEN o.range_begin >= 0 THEN 'others' ELSE _polled_words(h.object_type, h.path, h.local_port, h.remote_address, h.remote_port) END AS what,
         nullif(_bit_words(p.words, o.events::UBIGINT), '') AS poll_events
  FROM internal.raw_event_object o JOIN own ON is_poll AND o.role = 0 AND o.host_index = own.host_index AND o.cpu = own.cpu AND o.parent_sequence = own.sequence
  JOIN internal.flag_sets p ON p.type = 'poll_events' LEFT JOIN internal.handles h ON h.host_index = o.host_index AND h.handle_id = o.handle_id),
wakes AS (
  SELECT own.wait, _event_id(e.host_index, e.cpu, e.sequence) AS event_id, e.start_ns, c.thread_id, c.comm || '[' || c.tid || ']' AS what
  FROM internal.raw_syscall_event e JOIN own ON is_futex AND own.result = 0 AND e.host_index = own.host_index AND e.argument0 = own.argument0 AND e.start_ns <= own.end_ns
  JOIN internal.contexts c ON c.host_index = e.host_index AND c.context_id = e.context_id AND c.process_id = own.process_id AND c.thread_id <> own.thread_id
  JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE list_contains(_futex_calls(), k.name) AND e.argument1 & 127 IN (1, 5, 10) AND e.result > 0 AND e.start_ns + coalesce(e.duration_ns, 0) >= own.start_ns),
ended AS (
  SELECT own.wait, c.thread_id, any_value(c.comm || '[' || c.tid || ']') AS what
  FROM internal.raw_thread_end t JOIN own ON is_futex AND is_outermost AND own.result IN (0, -11) AND own.argument1 & 128 = 0 AND t.host_index = own.host_index AND t.tid = own.argument2 & 4294967295
       AND t.end_ns BETWEEN own.start_ns AND own.end_ns
  JOIN internal.contexts c ON c.host_index = t.host_index AND c.process_id = own.process_id AND c.thread_id = _task_id(t.host_index, t.thread_start_ns, t.tid) GROUP BY ALL),
signals AS (
  SELECT own.wait, arg_min(_event_id(e.host_index, e.cpu, e.sequence), e.start_ns) AS event_id, min(e.start_ns) AS start_ns, any_value(own.thread_id) AS thread_id,
         arg_min(_argument_text('signal', s.signals, e.signal::UBIGINT)[2:-2], e.start_ns) AS what
  FROM internal.raw_signal_event e JOIN own ON is_interrupted AND e.host_index = own.host_index AND e.start_ns BETWEEN own.start_ns AND own.end_ns + 1000000000
  JOIN internal.contexts c ON c.host_index = e.host_index AND c.context_id = e.context_id AND c.thread_id = own.thread_id CROSS JOIN internal.signal_sets s GROUP BY own.wait),
rows AS (
  SELECT wait, rule, NULL::UBIGINT AS event_id, NULL::UBIGINT AS start_ns, NULL::UBIGINT AS thread_id, object_id, fd, what, poll_events FROM named
  UNION ALL SELECT wait, CASE WHEN count(*) OVER (PARTITION BY wait) = 1 THEN 'wake' ELSE 'one_of' END, event_id, start_ns, thread_id, NULL, NULL, what, NULL FROM wakes
  UNION ALL SELECT wait, 'exit', NULL, NULL, thread_id, NULL, NULL, what, NULL FROM ended
  UNION ALL SELECT wait, 'signal', s.event_id, s.start_ns, s.thread_id, NULL, NULL, s.what, NULL FROM own LEFT JOIN signals s USING (wait) WHERE is_interrupted
  UNION ALL SELECT wait, 'timeout', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM own WHERE ((is_poll OR is_sleep) AND result = 0) OR (is_futex AND result = -110)
  UNION ALL SELECT wait, 'no_wait', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM own ANTI JOIN ended USING (wait) WHERE is_futex AND result = -11
  UNION ALL SELECT wait, 'unfinished', NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM own WHERE result IS NULL)
SELECT * FROM rows ORDER BY wait, rule = 'not_ready', what, fd, start_ns;
CREATE OR REPLACE MACRO woken_by(wait_event) AS TABLE SELECT * EXCLUDE (wait) FROM woken_by_each([wait_event]);
