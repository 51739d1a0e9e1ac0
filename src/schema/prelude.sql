-- Macros, and what they are told about system calls: what holds of every trace. Hand-written; generate.py puts it into views.sql, before facts.sql.
CREATE OR REPLACE MACRO _event_id(host_index, cpu, sequence) AS (host_index::UBIGINT << 54) | (cpu::UBIGINT << 42) | sequence;
CREATE OR REPLACE MACRO _stack_id(host_index, stack_id) AS (host_index::UBIGINT << 32) | stack_id::UBIGINT;
-- A task is (start, pid): 67 ms units of boot time and 22 bits of pid; a pid does not come round in 67 ms.
CREATE OR REPLACE MACRO _task_id(host_index, start_ns, pid) AS
    (host_index::UBIGINT << 54) | (((start_ns >> 26) & 4294967295::UBIGINT) << 22) | pid::UBIGINT;
-- A process or thread, as the first host of its kernel calls it.
CREATE OR REPLACE MACRO _of_kernel(id, kernel) AS (kernel::UBIGINT << 54) | (id::UBIGINT & 18014398509481983::UBIGINT);
-- The memory of a process, as flows know an object: its number with a bit that no id of an object has.
-- A queue of System V, as an object that flows go through: the kernel has no file for it.
CREATE OR REPLACE MACRO _queue_of(kernel, ipc_namespace, msqid) AS hash(kernel, ipc_namespace, msqid) >> 3 | 2305843009213693952::UBIGINT;
CREATE OR REPLACE MACRO _memory_of(process_id) AS process_id::UBIGINT | 4611686018427387904::UBIGINT;
-- Ids are below 2^63: there are at most 512 hosts. What needs 64 bits (a fingerprint, an inode) is those bits as a signed number: to_hex() shows them.
CREATE OR REPLACE MACRO _signed_bits(v) AS CASE WHEN v > 9223372036854775807 THEN (v - 9223372036854775808)::BIGINT - 9223372036854775807 - 1 ELSE v::BIGINT END;
CREATE OR REPLACE MACRO _capped(v) AS CASE WHEN v > 9223372036854775807 THEN 9223372036854775807 ELSE v END;
-- What is on a host, as people say it where there are several.
CREATE OR REPLACE MACRO _on_host(host, what) AS CASE WHEN (SELECT count(*) FROM internal.hosts) > 1 THEN host || ':' || what ELSE what END;
-- Who did what to what, as people say it: cat[812], wrote, 10.0.0.7:443.
CREATE OR REPLACE MACRO _program(exe, comm) AS coalesce(nullif(regexp_extract(exe, '([^/]+?)( \(deleted\))?$', 1), ''), comm, '?');
CREATE OR REPLACE MACRO _process_label(host, exe, comm, pid) AS _on_host(host, _program(exe, comm) || '[' || pid || ']');
-- Who made an event: what the process is called, or where it ran another program then, that one.
CREATE OR REPLACE MACRO _process_then(process, last_exe, exe, comm, pid) AS CASE WHEN process IS NULL OR _program(exe, NULL) <> _program(last_exe, NULL) AND exe IS NOT NULL AND last_exe IS NOT NULL
    THEN _program(exe, comm) || '[' || pid || ']' ELSE process END;
-- A command line as a shell takes it, and as few words of it after the first as tell programs of one name apart.
CREATE OR REPLACE MACRO _words_of(command) AS string_split(regexp_replace(command, '(\\x00)+$', ''), '\x00');
CREATE OR REPLACE MACRO _command_text(command) AS array_to_string([CASE WHEN regexp_full_match(w, '[A-Za-z0-9_@%+=:,./-]+') THEN w
    ELSE '''' || replace(w, '''', '''\''''') || '''' END FOR w IN _words_of(command)], ' ');
-- What a program was started as, be it by a link's name: its first word, where the kernel called the thread so, too (no caller can choose that, and of a script it
-- is the script's name). NULL: only the file's own name is known. A thread's name has 15 bytes; a program that writes into its words keeps the first one.
CREATE OR REPLACE MACRO _first_word(command) AS ltrim(regexp_extract(_words_of(command)[1], '[^/]*$'), '-');
-- A program that was made in memory has no name but what its maker says; the name of its file is chosen by nobody who knows it (memfd:sealed-…).
CREATE OR REPLACE MACRO _is_in_memory(exe) AS starts_with(exe, '/memfd:') OR starts_with(exe, 'memfd:');
CREATE OR REPLACE MACRO _called(first_word, comms) AS list_max([CASE WHEN length(c) = 15 AND starts_with(first_word, c) THEN split_part(first_word, ' ', 1)
    WHEN c <> '' AND (first_word = c OR starts_with(first_word, c || ' ')) THEN c END FOR c IN comms]);
CREATE OR REPLACE MACRO _short_text(words, most) AS CASE WHEN length(words) > most THEN left(words, most - 1) || '…' ELSE words END;
-- Of a server that has written what it is over its words ("nginx: worker process") that.
CREATE OR REPLACE MACRO _command_words(command) AS _short_text(CASE WHEN len(_words_of(command)) = 1 THEN regexp_extract(_words_of(command)[1], '^[^ /]+: +(.*?) *$', 1)
    ELSE array_to_string([regexp_replace(w, '(^|=)/.*/([^/]+)$', '\1\2') FOR w IN _words_of(command)[2:]], ' ') END, 24);
CREATE OR REPLACE MACRO _verb(name, transfer) AS CASE WHEN name IN ('fsync', 'fdatasync', 'sync', 'syncfs', 'sync_file_range', 'msync') THEN 'synced'
    WHEN transfer IN ('copy_to', 'copy_from', 'tee') THEN 'copied'
    WHEN transfer IN ('read', 'peek') THEN 'read'
    WHEN transfer = 'write' THEN 'wrote' END;
-- What an end of the event's socket is: of its object, or of the second one where only that is a socket. `family` is that of the first, NULL: it is none.
CREATE OR REPLACE MACRO _end_of(family, first, second) AS CASE WHEN family IS NULL THEN second ELSE first END;
CREATE OR REPLACE MACRO _target_label(name, object_type, path, local_port, remote_address, remote_port) AS
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
CREATE OR REPLACE MACRO _type_of_choice(choice) AS split_part(choice, '=', 2);
CREATE OR REPLACE TABLE internal.flag_sets AS SELECT unnest(string_split(types, ',')) AS type, pair, {'width': width, 'field': field,
    'rest_mask': rest_mask, 'nameless': nameless, 'numbers': [_number_in(w) FOR w IN string_split("values", ',')],
    'names': [split_part(w, '=', 1) FOR w IN string_split("values", ',')],
    'bits': [{'bit': _number_in(w), 'cover': coalesce(nullif(split_part(w, '/', 2), ''), '0')::UBIGINT, 'name': split_part(w, '=', 1)}
             FOR w IN string_split(bits, ',')], 'zero': zero, 'rest': rest, 'last': last} AS words FROM internal.flag_labels;
-- Each call by its number in each table of calls, and what it is given as text.
CREATE OR REPLACE VIEW internal.numbered_calls AS
SELECT abi, number, name, words, choices, transfer,
       CASE WHEN contains(words, 'message_flags') THEN list_position([split_part(w, ':', 2) FOR w IN string_split(words, ',')], 'message_flags') END AS message_flags_at,
       CASE WHEN cuts = 'allocate' AND abi IN (1, 4) THEN 'allocate_split' ELSE cuts END AS cuts
FROM (SELECT name, transfer, cuts, unnest([0, 1, 2, 3, 4]) AS abi, unnest([x86_64, i386, coalesce(x32, x86_64), arm64, arm]) AS number,
             unnest([arguments, coalesce(arguments_i386, arguments), arguments, coalesce(arguments_arm64, arguments), coalesce(arguments_arm, arguments)]) AS words,
             unnest([choices, choices, choices, coalesce(choices_arm64, choices), coalesce(choices_arm, choices)]) AS choices FROM internal.call_labels)
WHERE number IS NOT NULL;
CREATE OR REPLACE TABLE internal.syscall_words AS
WITH typed AS (SELECT * REPLACE (string_split(words, ',') AS words, string_split(choices, ',') AS choices), [nullif(split_part(w, ':', 2), '') FOR w IN string_split(words, ',')] AS types
               FROM internal.numbered_calls),
sets AS (SELECT map_from_entries(list((type, words))) AS by_type, list(type) FILTER (pair) AS pairs FROM internal.flag_sets)
SELECT abi, number, name, coalesce(list_contains(pairs, types[3]), false) AS pair, ['"' || nullif(split_part(w, ':', 1), '') || '":' FOR w IN words] AS labels,
       types, list_transform(types, lambda word: by_type[word]) AS sets,
       map_from_entries([{'k': _command_of(w), 'v': {'kind': _type_of_choice(w), 'words': by_type[_type_of_choice(w)]}} FOR w IN choices]) AS choices,
       transfer, message_flags_at, cuts FROM typed, sets;
-- What `events` joins. A program that says arguments and signals sooner needs no words, and puts tables without them here.
CREATE OR REPLACE TABLE internal.syscalls AS FROM internal.syscall_words;
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
    WHEN kind IN ('int', 'fd', 'fd2', 'descriptor') OR (kind = 'id' AND (v & 4294967295::UBIGINT) = 4294967295) THEN _signed(v)
    WHEN kind IN ('long', 'length', 'offset', 'offset_low') THEN
        CASE WHEN v >= 9223372036854775808 THEN (v::HUGEINT - 18446744073709551616)::VARCHAR ELSE v::VARCHAR END
    WHEN kind = 'address' THEN '"' || format('{:#x}', v) || '"'
    ELSE v::VARCHAR END;
-- `c` is what a command says of the argument after it.
CREATE OR REPLACE MACRO _chosen_text(c, v) AS CASE WHEN c IS NULL THEN v::VARCHAR WHEN c.kind <> '' THEN _argument_text(c.kind, c.words, v) END;
-- Most calls have numbers only. What a command says of the argument after it, and strings beside the registers, are made once for a
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
CREATE OR REPLACE TABLE internal.signal_words AS SELECT any_value(words) FILTER (type = 'signal') AS signals,
    any_value(words) FILTER (type = 'signal_code') AS codes FROM internal.flag_sets;
CREATE OR REPLACE TABLE internal.signal_sets AS FROM internal.signal_words;
CREATE OR REPLACE MACRO _signal_code_number(signal, code) AS
    (CASE WHEN code > 0 AND code <> 128 THEN signal::UBIGINT << 32 ELSE 0::UBIGINT END) | (code::BIGINT & 4294967295)::UBIGINT;
CREATE OR REPLACE MACRO _signal_words(signals, codes, signal, code, pid, uid, status, utime, stime, timer, overrun, v, address) AS
    '{' || concat_ws(',', array_to_string(list_transform([signal::UBIGINT, _signal_code_number(signal, code)],
        lambda n, i: ['"signal":', '"code":'][i] || _argument_text('signal', [signals, codes][i], n)), ','),
    '"pid":' || pid, '"uid":' || uid, '"status":' || status, '"utime":' || utime, '"stime":' || stime, '"timer":' || timer,
    '"overrun":' || overrun, '"value":' || v, '"address":"' || format('{:#x}', address) || '"') || '}';
CREATE OR REPLACE MACRO _signal_text(signals, codes, signal, code, pid, uid, status, utime, stime, timer, overrun, v, address) AS
    _signal_words(signals, codes, signal, code, pid, uid, status, utime, stime, timer, overrun, v, address);
-- A relative name is joined to the directory that it starts from; '.', '..' and '//' are taken out of the text, as no link is followed.
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
-- /a/b/c is in /a and /a/b; what has no such path is in none.
CREATE OR REPLACE MACRO _folders_of(path) AS CASE WHEN starts_with(path, '/') THEN [array_to_string(string_split(path, '/')[1:i], '/') for i in range(2, len(string_split(path, '/')))] ELSE [] END;
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
-- The kernel shows zeros for a socket that has no such end yet.
CREATE OR REPLACE MACRO _known_address(address, port) AS CASE WHEN NOT (port = 0 AND address IN ('0.0.0.0', '::')) THEN address END;

-- 32 bits that stand for an address, by which the ends of a datagram are compared; 0: not known. Each network namespace of each host has a loopback of its own.
CREATE OR REPLACE MACRO _address_number(address, host_index, network_namespace) AS CASE WHEN address IS NULL OR address IN ('0.0.0.0', '::') THEN 0::UBIGINT
    ELSE greatest(hash(regexp_replace(address, '^::ffff:', ''), CASE WHEN regexp_matches(address, '^(::ffff:)?127\.|^::1$') THEN hash(host_index, network_namespace) END) & 4294967295, 1)::UBIGINT END;
