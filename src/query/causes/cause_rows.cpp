#include "query/causes/cause_rows.h"

#include <fmt/format.h>

#include <utility>

#include "analysis/causality/handover.h"
#include "query/flows/flow_rows.h"
#include "schema/generated/records.h"

namespace dyetrace::query {
namespace {

using analysis::ActKind;
using schema::CauseRule;
using schema::ContradictionCause;
using schema::ContradictionKind;
using schema::EventRole;

int number_of(CauseRule rule) {
    return static_cast<int>(rule);
}

int number_of(ActKind kind) {
    return static_cast<int>(kind);
}

int number_of(EventRole role) {
    return static_cast<int>(role);
}

// A call that never returned stands where it began: nothing reached it.
constexpr const char* kPlaces = R"(
places AS (
  SELECT _event_id(e.host_index, e.cpu, e.sequence) AS event, c.thread_id AS thread, e.start_ns AS begin_ns, e.start_ns + coalesce(e.duration_ns, 0) AS end_ns
  FROM internal.raw_syscall_event e JOIN internal.contexts c USING (host_index, context_id)
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns + coalesce(e.duration_ns, 0)
  FROM internal.raw_part_event e JOIN internal.contexts c USING (host_index, context_id)
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns
  FROM internal.raw_signal_event e JOIN internal.contexts c USING (host_index, context_id)
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns
  FROM internal.raw_log_event e JOIN internal.contexts c USING (host_index, context_id)))";

// The calls that rules other than those of flows look at.
constexpr const char* kCalls = R"(
calls AS (
  SELECT k.name, _transfer(k.transfer, e.open_flags, _message_flags(k.message_flags_at, e.argument2, e.argument3)) AS transfer,
    _event_id(e.host_index, e.cpu, e.sequence) AS event, c.thread_id AS thread, c.process_id AS process, e.start_ns AS begin_ns,
    e.start_ns + coalesce(e.duration_ns, 0) AS end_ns, e.host_index, e.result, e.state, e.fd, e.open_flags, e.requested, e.argument0, e.argument1, e.argument2,
    e.argument3, e.names_base, e.names_base2, e.path, e.path2, h.path AS object_path, h2.path AS object2_path, e.handle_id IS NULL AS is_nameless,
    e.handle2_id IS NULL AS is_nameless2, c.mount_namespace, c.pid, c.pid_in_namespace,
    CASE WHEN e.target_start_ns > 0 THEN _task_id(e.host_index, e.target_start_ns, e.target_tid) END AS target,
    CASE WHEN NOT e.names_base THEN h.object_id END AS object, h.object_type, h.family, h.socket_type
  FROM internal.raw_syscall_event e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  JOIN internal.contexts c USING (host_index, context_id)
  LEFT JOIN internal.handles h ON h.host_index = e.host_index AND h.handle_id = e.handle_id
  LEFT JOIN internal.handles h2 ON h2.host_index = e.host_index AND h2.handle_id = e.handle2_id
  WHERE {}))";

constexpr const char* kHandoverCalls =
    "k.name IN ('kill','tkill','tgkill','pidfd_send_signal','futex','futex_time64','eventfd',"
    "'eventfd2','read','write','flock','fcntl','fcntl64','close')";

// Only waits on futexes that are not private count: who joins a thread waits so.
constexpr const char* kCauseCalls =
    "(k.transfer IN ('read', 'copy_to') AND e.bytes = 0) OR (k.name IN "
    "('futex','futex_time64','clone','clone3','fork','vfork','wait4','waitid','waitpid','execve','"
    "execveat','connect',"
    "'accept','accept4','shutdown','close','open',"
    "'openat','openat2','creat','rename','renameat','renameat2','link','linkat','unlink',"
    "'unlinkat','rmdir','mkdir','mkdirat','symlink','symlinkat','mknod','mknodat') AND (k.name NOT "
    "IN ('futex','futex_time64') OR "
    "(e.argument1 & 255 IN (0, 9) AND e.result IN (0, -11))))";

// Who locks bytes of which file: `holder` has them, a descriptor or, by fcntl without F_OFD_, a process, whose locks all go with any descriptor of
// the file that it closes. What ends with a process, ends after the last event of its last thread.
constexpr const char* kLocks = R"(
file_locks AS (
  SELECT event, thread, process, begin_ns, end_ns, object, hash('lock', object) AS item, hash(process, fd) AS holder,
    CASE argument1 & 11 WHEN 1 THEN {shared} WHEN 2 THEN {exclusive} ELSE {unlocked} END AS kind, 0::UBIGINT AS range_begin, NULL::UBIGINT AS range_end
  FROM calls WHERE name = 'flock' AND result = 0
  UNION ALL SELECT c.event, thread, process, begin_ns, end_ns, object, hash('range lock', object),
    CASE WHEN argument1 & 4294967295 IN (37, 38) THEN hash(process, c.fd) ELSE hash(process) END,
    CASE l.role WHEN {read_locked} THEN {shared} WHEN {write_locked} THEN {exclusive} ELSE {unlocked} END, l.range_begin::UBIGINT, nullif(l.range_end, -1)::UBIGINT
  FROM calls c JOIN internal.raw_event_object l ON _event_id(l.host_index, l.cpu, l.parent_sequence) = c.event
  WHERE name IN ('fcntl', 'fcntl64') AND l.role IN ({read_locked}, {write_locked}, {role_unlocked}) AND l.range_begin >= 0),
lock_holders AS (SELECT DISTINCT process, object, item, holder FROM file_locks),
task_ends AS (SELECT _task_id(host_index, process_start_ns, pid) AS process, _task_id(host_index, thread_start_ns, tid) AS thread, max(end_ns) AS end_ns
  FROM internal.raw_thread_end GROUP BY 1, 2),
process_ends AS (SELECT process, arg_max(thread, end_ns) AS thread, max(end_ns) AS end_ns FROM task_ends SEMI JOIN lock_holders USING (process)
  ANTI JOIN (SELECT process_id AS process FROM internal.contexts ANTI JOIN task_ends t ON t.thread = thread_id) USING (process) GROUP BY 1),
last_events AS (SELECT thread, arg_max(event, begin_ns) AS event, max(end_ns) AS end_ns FROM places SEMI JOIN process_ends USING (thread) GROUP BY 1),
locks AS (
  SELECT event, thread, begin_ns, end_ns, kind, item, holder, range_begin, range_end FROM file_locks
  UNION ALL SELECT event, thread, begin_ns, end_ns, {unlocked}, item, holder, 0, NULL FROM calls c JOIN lock_holders USING (process, object)
  WHERE name = 'close' AND result = 0 AND holder IN (hash(process, fd), hash(process))
  UNION ALL SELECT l.event, thread, greatest(p.end_ns, l.end_ns), greatest(p.end_ns, l.end_ns), {unlocked}, item, holder, 0, NULL
  FROM lock_holders JOIN process_ends p USING (process) JOIN last_events l USING (thread)))";

// What a signal says of its sender is a number in the receiver's pid namespace.
constexpr const char* kActs = R"(
signals AS (SELECT event, thread, begin_ns, end_ns, pid, pid_in_namespace, target,
    CASE name WHEN 'tgkill' THEN argument2 ELSE argument1 END & 127 AS signal
  FROM calls WHERE name IN ('kill', 'tkill', 'tgkill', 'pidfd_send_signal') AND result = 0 AND target IS NOT NULL),
acts AS (
  SELECT event, thread, begin_ns, end_ns, CASE WHEN signal < 32 THEN {sent} ELSE {queued} END AS kind,
    hash('signal', target, signal, false, pid) AS item, 0::UBIGINT AS holder, 0::UBIGINT AS range_begin, NULL::UBIGINT AS range_end FROM signals WHERE signal > 0
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE WHEN signal < 32 THEN {sent} ELSE {queued} END,
    hash('signal', target, signal, true, pid_in_namespace), 0, 0, NULL FROM signals WHERE signal > 0
  UNION ALL SELECT _event_id(e.host_index, e.cpu, e.sequence), c.thread_id, e.start_ns, e.start_ns,
    CASE WHEN e.signal < 32 THEN {delivered} ELSE {queue_delivered} END,
    hash('signal', c.process_id, e.signal::UBIGINT, c.pid <> c.pid_in_namespace, e.sender_pid), 0, 0, NULL
  FROM internal.raw_signal_event e JOIN internal.contexts c USING (host_index, context_id) WHERE e.code IN (0, -1, -6) AND e.sender_pid IS NOT NULL
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE WHEN argument1 & 127 IN (0, 9) THEN {waited} ELSE {woke} END,
    hash('futex', process, argument0), 0, 0, NULL
  FROM calls WHERE name IN ('futex', 'futex_time64') AND ((argument1 & 127 IN (0, 9) AND result = 0) OR (argument1 & 127 IN (1, 5, 10) AND result > 0))
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE WHEN argument0 & 4294967295 = 0 THEN {made} ELSE {made_full} END,
    hash('counter', object), CASE WHEN name = 'eventfd2' THEN argument1 & 1 ELSE 0 END, 0, NULL
  FROM calls WHERE name IN ('eventfd', 'eventfd2') AND result >= 0
  UNION ALL SELECT event, thread, begin_ns, end_ns, CASE name WHEN 'write' THEN {added} ELSE {read} END, hash('counter', object), 0, 0, NULL
  FROM calls WHERE name IN ('read', 'write') AND result = 8 AND object_type = 'anonymous' AND object_path = 'anon_inode:[eventfd]'
  UNION ALL FROM locks)
SELECT is_end::UBIGINT, event, thread, begin_ns, end_ns, kind::UBIGINT, item, holder::UBIGINT, range_begin::UBIGINT, range_end::UBIGINT FROM acts, (VALUES (false), (true)) s(is_end)
ORDER BY CASE WHEN is_end THEN end_ns ELSE begin_ns END, is_end, event)";

// The same bytes at both ends of a flow that have different fingerprints.
constexpr const char* kUnlike = R"(
printed AS (SELECT _event_id(host_index, cpu, sequence) AS event, bytes, fingerprint FROM internal.raw_syscall_event WHERE unread_bytes = 0 AND fingerprint IS NOT NULL
  UNION ALL SELECT _event_id(host_index, cpu, sequence), bytes, fingerprint FROM internal.raw_part_event WHERE unread_bytes = 0 AND fingerprint IS NOT NULL),
unlike AS (SELECT f.from_event, f.to_event, f.rule FROM internal.derived_flows f JOIN printed a ON a.event = f.from_event JOIN printed b ON b.event = f.to_event
  WHERE f.rule <= 3 AND f.certainty = 2 AND f.bytes = a.bytes AND f.bytes = b.bytes AND a.fingerprint <> b.fingerprint))";

// Bytes that a connection delivered and that nobody is known to have sent, though the other end was watched when they were: a call of it on that end
// is in the trace from before (connect, accept, an earlier byte) and one from after (a later byte,
// shutdown, close, the end of its process).
constexpr const char* kUnsent = R"(
tcp AS (SELECT object_id AS object, max(connection_id) AS connection_id FROM internal.handles WHERE connection_id IS NOT NULL GROUP BY 1),
ended AS (SELECT DISTINCT _task_id(host_index, process_start_ns, pid) AS process FROM internal.raw_thread_end WHERE tid = pid),
touched AS (
  SELECT _event_id(e.host_index, e.cpu, e.sequence) AS event, k.name, e.bytes, e.stream_offset, h.object_id AS object, t.connection_id, c.process_id AS process,
    _transfer(k.transfer, e.open_flags, _message_flags(k.message_flags_at, e.argument2, e.argument3)) AS transfer
  FROM internal.raw_syscall_event e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  JOIN internal.contexts c USING (host_index, context_id)
  JOIN internal.handles h ON h.host_index = e.host_index AND h.handle_id = e.handle_id JOIN tcp t ON t.object = h.object_id
  WHERE k.transfer IS NOT NULL OR k.name IN ('connect', 'accept', 'accept4', 'shutdown', 'close')),
watched AS (
  SELECT object, connection_id, min(CASE WHEN name IN ('connect', 'accept', 'accept4') THEN 0 WHEN sends THEN stream_offset END) AS from_at,
    max(CASE WHEN name IN ('shutdown', 'close') OR e.process IS NOT NULL THEN 18446744073709551615 WHEN sends THEN stream_offset + bytes END) AS to_at
  FROM (SELECT *, bytes > 0 AND transfer IN ('write', 'copy_from') AS sends FROM touched) t
  LEFT JOIN ended e USING (process) GROUP BY 1, 2),
sent AS (SELECT to_event AS event, sum(bytes) AS bytes FROM internal.derived_flows WHERE rule = 0 GROUP BY 1),
unsent AS (
  SELECT r.event FROM touched r JOIN watched w ON w.connection_id = r.connection_id AND w.object <> r.object LEFT JOIN sent s USING (event)
  WHERE r.transfer IN ('read', 'copy_to') AND r.bytes > 0 AND r.stream_offset BETWEEN w.from_at AND w.to_at - r.bytes
    AND coalesce(s.bytes, 0) < r.bytes))";

// Bytes: what left a call did so after it began, what reached it before it ended. A call that passes bytes on does so in their order: what
// reached it as byte p is after all that left it before p. The moments of its bytes are spread over
// its time, in this order.
constexpr const char* kByteRules = R"(
passing AS (SELECT _event_id(e.host_index, e.cpu, e.sequence) AS event, e.bytes, coalesce(e.duration_ns, 0) AS duration_ns
  FROM internal.raw_syscall_event e JOIN internal.syscalls k ON k.abi = e.abi AND k.number = e.syscall
  WHERE k.transfer IN ('copy_to', 'copy_from', 'tee') AND e.bytes > 0 AND e.duration_ns > 0),
bytes_moved AS (
  SELECT a.event AS from_event, a.thread AS from_thread, CASE WHEN s.event IS NULL THEN a.begin_ns
      ELSE a.begin_ns + 1 + ((f.from_position + f.bytes - 1)::HUGEINT * (s.duration_ns - 1) // s.bytes)::UBIGINT END AS from_at,
    b.event AS to_event, b.thread AS to_thread, CASE WHEN t.event IS NULL THEN b.end_ns
      ELSE b.begin_ns + ((f.to_position::HUGEINT * (t.duration_ns - 1) + t.bytes - 1) // t.bytes)::UBIGINT END AS to_at,
    CASE f.rule WHEN 0 THEN {tcp} WHEN 1 THEN {pipe} WHEN 2 THEN {unix} ELSE {file} END AS rule
  FROM internal.derived_flows f JOIN places a ON a.event = f.from_event JOIN places b ON b.event = f.to_event
  LEFT JOIN passing s ON s.event = f.from_event LEFT JOIN passing t ON t.event = f.to_event
  ANTI JOIN unlike u ON u.from_event = f.from_event AND u.to_event = f.to_event
  WHERE f.rule <= 3 AND f.certainty = 2),
handed_over AS (
  SELECT a.event, a.thread, a.begin_ns, b.event, b.thread, b.end_ns, f.rule
  FROM internal.derived_handovers f JOIN places a ON a.event = f.from_event JOIN places b ON b.event = f.to_event))";

// A thread that has ended left everything after its last event. What a new one does is after the
// call that made it; `- 1`: it had not begun. Who joins a thread waits, in a futex that is not
// private, until the kernel has cleared the word in which its number stands.
constexpr const char* kTaskRules = R"(
first AS (SELECT thread, first_event AS event, first_ns AS begin_ns FROM internal.cause_threads),
last AS (SELECT thread, last_event AS event, last_ns AS end_ns FROM internal.cause_threads),
pids AS (SELECT DISTINCT host_index, process_id AS process, pid, pid_in_namespace FROM internal.contexts),
gone AS (
  SELECT l.event, l.thread, greatest(t.end_ns, l.end_ns + 1) AS at, _task_id(t.host_index, t.process_start_ns, t.pid) AS process, t.host_index
  FROM internal.raw_thread_end t JOIN last l ON l.thread = _task_id(t.host_index, t.thread_start_ns, t.tid)),
tids AS (SELECT process, result::UBIGINT AS tid, target AS thread, begin_ns FROM calls WHERE name IN ('clone', 'clone3') AND target IS NOT NULL AND result > 0
  UNION SELECT process_id, tid::UBIGINT, thread_id, thread_start_ns FROM internal.contexts WHERE pid = pid_in_namespace),
joins AS (SELECT *, argument2 & 4294967295 AS tid FROM calls WHERE name IN ('futex', 'futex_time64')),
joined AS (
  SELECT l.event, l.thread, l.end_ns + 1, j.event, j.thread, j.end_ns, {exit}
  FROM joins j ASOF JOIN tids t ON t.process = j.process AND t.tid = j.tid AND t.begin_ns <= j.begin_ns
  JOIN last l ON l.thread = t.thread AND l.end_ns < j.end_ns SEMI JOIN gone g ON g.thread = l.thread),
forked AS (
  SELECT e.event, e.thread, e.begin_ns, f.event, f.thread, f.begin_ns - 1, {fork}
  FROM calls e JOIN first f ON f.thread = e.target WHERE e.name IN ('clone', 'clone3', 'fork', 'vfork')),
waited AS (
  SELECT g.event, g.thread, g.at, e.event, e.thread, e.end_ns, {exit}
  FROM calls e JOIN gone g ON g.process = e.target AND g.at <= e.end_ns WHERE e.name IN ('wait4', 'waitid', 'waitpid')),
replaced AS (
  SELECT g.event, g.thread, g.at, e.event, e.thread, e.end_ns, {exec}
  FROM calls e JOIN gone g ON g.process = e.process AND g.at BETWEEN e.begin_ns AND e.end_ns WHERE e.name IN ('execve', 'execveat') AND e.result = 0),
told AS (
  SELECT g.event, g.thread, g.at, _event_id(e.host_index, e.cpu, e.sequence) AS told_event, c.thread_id, e.start_ns, {signal}
  FROM internal.raw_signal_event e JOIN internal.contexts c USING (host_index, context_id)
  JOIN pids p ON p.host_index = e.host_index AND CASE WHEN c.pid = c.pid_in_namespace THEN p.pid ELSE p.pid_in_namespace END = e.sender_pid
  JOIN gone g ON g.process = p.process AND g.at <= e.start_ns WHERE e.signal = 17 AND e.code BETWEEN 1 AND 3
  QUALIFY g.process = first_value(g.process) OVER (PARTITION BY told_event ORDER BY g.at DESC)))";

// Two ends of a connection; the end of a pipe that writes is the same object. A connection is closed when all its descriptors are, or shut
// down; a FIFO may be opened again. A socket that does not block is connected by its first connect; those after it ask whether it is.
constexpr const char* kConnectionRules = R"(
tcp AS (SELECT object_id, max(connection_id) AS connection_id FROM internal.handles WHERE connection_id IS NOT NULL GROUP BY 1),
kernel_ids AS (SELECT DISTINCT r.host_index, r.object_id AS kernel_id, h.object_id
  FROM internal.raw_handle r JOIN internal.handles h USING (host_index, handle_id)),
pairs AS (SELECT DISTINCT h.object_id AS a, i.object_id AS b FROM internal.raw_socket s JOIN internal.handles h USING (host_index, handle_id)
  JOIN kernel_ids i ON i.host_index = s.host_index AND i.kernel_id = s.peer_object_id WHERE s.family = 1 AND s.socket_type = 1 AND s.peer_object_id > 0),
others AS (SELECT a.object_id AS object, b.object_id AS other FROM tcp a JOIN tcp b USING (connection_id) WHERE a.object_id <> b.object_id
  UNION SELECT a, b FROM pairs UNION SELECT b, a FROM pairs),
connects AS (SELECT object, arg_min(event, begin_ns) AS event, arg_min(thread, begin_ns) AS thread, min(begin_ns) AS begin_ns
  FROM calls WHERE name = 'connect' AND result IN (0, -115) GROUP BY object),
connected AS (
  SELECT a.event, a.thread, a.begin_ns, b.event, b.thread, b.end_ns, {connect}
  FROM calls b JOIN others o ON o.object = b.object JOIN connects a ON a.object = o.other
  WHERE b.name IN ('accept', 'accept4') AND b.result >= 0),
shut AS (SELECT object, arg_min(event, begin_ns) AS event, arg_min(thread, begin_ns) AS thread, min(begin_ns) AS begin_ns
  FROM calls WHERE name = 'shutdown' AND result = 0 AND argument1 IN (1, 2) GROUP BY object),
closes AS (FROM shut UNION ALL
  SELECT object, event, thread, begin_ns FROM calls ANTI JOIN shut USING (object)
  WHERE name = 'close' AND result = 0 AND (object_type = 'socket' OR (object_type = 'pipe' AND open_flags & 3 <> 0))),
ends_of_file AS (
  SELECT object, object_type, thread, arg_min(event, end_ns) AS event, min(end_ns) AS end_ns FROM calls
  WHERE transfer IN ('read', 'copy_to') AND result = 0 AND coalesce(requested, 1) > 0
    AND ((object_type = 'socket' AND socket_type = 1) OR (object_type = 'pipe' AND NOT starts_with(object_path, '/'))) GROUP BY ALL),
ended AS (
  SELECT c.event, c.thread, c.begin_ns, e.event, e.thread, e.end_ns, {eof}
  FROM ends_of_file e JOIN (FROM others UNION ALL SELECT DISTINCT object, object FROM ends_of_file WHERE object_type = 'pipe') o USING (object)
  JOIN closes c ON c.object = o.other WHERE e.object_type = 'socket' OR c.begin_ns <= e.end_ns))";

// A name is opened, or not found, as the last call that changed it left it, if that had ended before.
constexpr const char* kNameRules = R"(
named AS (
  SELECT *, CASE WHEN names_base THEN _join_path(object_path, path) WHEN is_nameless THEN path ELSE object_path END AS name1,
    CASE WHEN names_base2 THEN _join_path(object2_path, path2) WHEN is_nameless2 THEN path2 ELSE object2_path END AS name2 FROM calls),
changes AS (
  SELECT event, thread, begin_ns, end_ns, host_index, mount_namespace, unnest([name1, name2]) AS file_name FROM named
  WHERE result >= 0 AND (name IN ('rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink', 'unlinkat', 'rmdir', 'mkdir', 'mkdirat', 'symlink',
      'symlinkat', 'mknod', 'mknodat', 'creat') OR (name = 'open' AND argument1 & 64 <> 0 AND argument1 & 640 <> 0)
    OR (name = 'openat' AND argument2 & 64 <> 0 AND argument2 & 640 <> 0))),
opened AS (
  SELECT event, thread, begin_ns, end_ns, host_index, mount_namespace, name1 AS file_name FROM named
  WHERE name IN ('open', 'openat', 'openat2', 'creat', 'execve', 'execveat') AND (result >= 0 OR result = -2)),
renamed AS (
  SELECT c.event, c.thread, c.begin_ns, o.event, o.thread, o.end_ns, {name}
  FROM opened o ASOF JOIN changes c ON c.host_index = o.host_index AND c.mount_namespace = o.mount_namespace AND c.file_name = o.file_name AND c.end_ns < o.begin_ns))";

// The flows of datagrams, where they tell who was first (analysis/dataflow/datagrams.h): between two ports one thread sends with one socket to
// one address, and one socket takes. An address that a socket does not know of itself could be that of any other one.
constexpr const char* kDatagramRules = R"(
clear_ports AS (SELECT other FROM datagrams WHERE other <> 0 GROUP BY other HAVING count(DISTINCT CASE WHEN sends THEN object END) = 1
  AND count(DISTINCT CASE WHEN sends THEN thread END) = 1 AND count(DISTINCT CASE WHEN sends THEN addresses & 4294967295 END) = 1
  AND count(DISTINCT CASE WHEN NOT sends THEN object END) = 1),
delivered AS (
  SELECT a.event, a.thread, a.begin_ns, b.event, b.thread, b.end_ns, {datagram}
  FROM internal.derived_flows f JOIN datagrams d ON d.event = f.from_event SEMI JOIN clear_ports USING (other)
  JOIN places a ON a.event = f.from_event JOIN places b ON b.event = f.to_event WHERE f.rule = {udp}))";

// What an imported log says of the order of two events: points of time there, so that the one has ended when the other one is.
constexpr const char* kImportRules = R"(
imported AS (
  SELECT a.event AS from_event, a.thread AS from_thread, a.end_ns + 1, b.event AS to_event, b.thread AS to_thread, b.end_ns, {import}
  FROM internal.raw_import_edge e JOIN places a ON a.event = _event_id(e.from_host, e.from_cpu, e.from_sequence)
  JOIN places b ON b.event = _event_id(e.host_index, e.to_cpu, e.to_sequence)))";

// The rules' numbers by name, in the text of some of them.
std::string with_numbers(const std::string& rules) {
    return fmt::format(fmt::runtime(rules),
                       fmt::arg("tcp", number_of(CauseRule::kTcp)),
                       fmt::arg("pipe", number_of(CauseRule::kPipe)),
                       fmt::arg("unix", number_of(CauseRule::kUnix)),
                       fmt::arg("file", number_of(CauseRule::kFile)),
                       fmt::arg("datagram", number_of(CauseRule::kDatagram)),
                       fmt::arg("udp", static_cast<int>(schema::FlowRule::kUdp)),
                       fmt::arg("fork", number_of(CauseRule::kFork)),
                       fmt::arg("exit", number_of(CauseRule::kExit)),
                       fmt::arg("exec", number_of(CauseRule::kExec)),
                       fmt::arg("signal", number_of(CauseRule::kSignal)),
                       fmt::arg("connect", number_of(CauseRule::kConnect)),
                       fmt::arg("eof", number_of(CauseRule::kEof)),
                       fmt::arg("name", number_of(CauseRule::kName)),
                       fmt::arg("import", number_of(CauseRule::kImport)));
}

}  // namespace

std::string event_places_sql() {
    return fmt::format("WITH {} SELECT event, thread, begin_ns, end_ns FROM places", kPlaces);
}

std::string handover_acts_sql() {
    return fmt::format(
        "WITH {}, {}, {}",
        kPlaces,
        fmt::format(fmt::runtime(kCalls), kHandoverCalls),
        fmt::format(fmt::runtime(std::string(kLocks) + "," + kActs),
                    fmt::arg("sent", number_of(ActKind::kSignalSent)),
                    fmt::arg("queued", number_of(ActKind::kQueuedSignalSent)),
                    fmt::arg("delivered", number_of(ActKind::kSignalDelivered)),
                    fmt::arg("queue_delivered", number_of(ActKind::kQueuedSignalDelivered)),
                    fmt::arg("waited", number_of(ActKind::kFutexWaited)),
                    fmt::arg("woke", number_of(ActKind::kFutexWoke)),
                    fmt::arg("made", number_of(ActKind::kCounterMade)),
                    fmt::arg("made_full", number_of(ActKind::kCounterMadeFull)),
                    fmt::arg("added", number_of(ActKind::kCounterAdded)),
                    fmt::arg("read", number_of(ActKind::kCounterRead)),
                    fmt::arg("shared", number_of(ActKind::kLockedShared)),
                    fmt::arg("exclusive", number_of(ActKind::kLockedExclusive)),
                    fmt::arg("unlocked", number_of(ActKind::kUnlocked)),
                    fmt::arg("read_locked", number_of(EventRole::kReadLocked)),
                    fmt::arg("write_locked", number_of(EventRole::kWriteLocked)),
                    fmt::arg("role_unlocked", number_of(EventRole::kUnlocked))));
}

std::string contradictions_sql() {
    return fmt::format(
        "WITH {}, {} SELECT {}::UBIGINT, CASE rule WHEN 0 THEN {} ELSE {} END::UBIGINT, CASE rule "
        "WHEN 0 THEN {} WHEN 1 THEN {} WHEN 2 THEN {} ELSE {} END::UBIGINT, from_event, to_event "
        "FROM (SELECT DISTINCT * FROM unlike ORDER BY ALL) UNION ALL SELECT {}::UBIGINT, "
        "{}::UBIGINT, {}::UBIGINT, NULL::UBIGINT, event FROM (FROM unsent ORDER BY ALL)",
        kUnlike,
        kUnsent,
        static_cast<int>(ContradictionKind::kDifferentBytes),
        static_cast<int>(ContradictionCause::kPortReuse),
        static_cast<int>(ContradictionCause::kTruncatedCapture),
        number_of(CauseRule::kTcp),
        number_of(CauseRule::kPipe),
        number_of(CauseRule::kUnix),
        number_of(CauseRule::kFile),
        static_cast<int>(ContradictionKind::kMissingSend),
        static_cast<int>(ContradictionCause::kTruncatedCapture),
        number_of(CauseRule::kTcp));
}

// A statement for each rule: in one for all of them DuckDB joins the calls to one another before it leaves out what no rule asks for.
std::vector<std::string> cause_candidates_sql() {
    std::vector<std::string> statements = {
        fmt::format("CREATE OR REPLACE TABLE internal.cause_places AS WITH {} FROM places",
                    kPlaces),
        "CREATE OR REPLACE TABLE internal.cause_threads AS SELECT thread, arg_min(event, begin_ns) "
        "AS first_event, min(begin_ns) AS first_ns, arg_max(event, begin_ns) AS last_event, "
        "max(end_ns) AS last_ns FROM internal.cause_places GROUP BY thread",
        fmt::format("CREATE OR REPLACE TABLE internal.cause_calls AS WITH {} FROM calls",
                    fmt::format(fmt::runtime(kCalls), kCauseCalls)),
        "CREATE OR REPLACE TABLE internal.cause_found (from_event UBIGINT, from_thread UBIGINT, "
        "from_at UBIGINT, to_event UBIGINT, to_thread UBIGINT, to_at UBIGINT, rule UTINYINT)"};
    const std::string bytes = std::string(kUnlike) + "," + kByteRules;
    const std::pair<std::string, std::vector<const char*>> rules_by_text[] = {
        {bytes, {"bytes_moved", "handed_over"}},
        {kTaskRules, {"forked", "waited", "joined", "replaced", "told"}},
        {kConnectionRules, {"connected", "ended"}},
        {kNameRules, {"renamed"}},
        {fmt::format("datagrams AS ({}),", datagrams_sql()) + kDatagramRules, {"delivered"}},
        {kImportRules, {"imported"}}};
    for (const auto& [text, rules] : rules_by_text) {
        for (const char* const rule : rules) {
            statements.push_back(
                fmt::format("INSERT INTO internal.cause_found WITH places AS (FROM "
                            "internal.cause_places), calls AS (FROM internal.cause_calls), {} "
                            "FROM {}",
                            with_numbers(text),
                            rule));
        }
    }
    statements.emplace_back(
        "CREATE OR REPLACE TABLE internal.cause_candidates AS SELECT row_number() OVER ()::UBIGINT "
        "AS edge, *, from_event >> 54 AS from_host, to_event >> 54 AS to_host FROM (SELECT "
        "DISTINCT "
        "* FROM internal.cause_found WHERE from_thread <> to_thread)");
    return statements;
}

std::span<const char* const> cause_tables() {
    static constexpr const char* kTables[] = {"internal.cause_places",
                                              "internal.cause_threads",
                                              "internal.cause_calls",
                                              "internal.cause_found",
                                              "internal.cause_candidates"};
    return kTables;
}

}  // namespace dyetrace::query
