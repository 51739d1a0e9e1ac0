-- selected_calls(): the calls of the selection, each once, with the bytes that its parts moved if it has some; read_bytes and written_bytes are those that it read and wrote. What is no
-- call, as a signal that came, is not among them.
--
-- Parts are few, and a table of their own.
CREATE OR REPLACE TEMP MACRO selected_calls() AS TABLE
SELECT s.* REPLACE (coalesce(s.bytes, m.bytes) AS bytes),
       coalesce(CASE WHEN s.verb = 'read' THEN s.bytes END, m.read_bytes) AS read_bytes, coalesce(CASE WHEN s.verb = 'wrote' THEN s.bytes END, m.written_bytes) AS written_bytes
FROM selected s LEFT JOIN (
  SELECT _event_id(p.host_index, p.cpu, p.parent_sequence)::BIGINT AS call_id, sum(p.bytes)::BIGINT AS bytes, sum(p.bytes) FILTER (k.transfer = 'read')::BIGINT AS read_bytes,
         sum(p.bytes) FILTER (k.transfer = 'write')::BIGINT AS written_bytes
  FROM internal.raw_part_event p LEFT JOIN internal.syscalls k ON k.abi = p.abi AND k.number = p.operation GROUP BY ALL) m ON m.call_id = s.event_id
WHERE s.kind = 'syscall' AND s.parent_event_id IS NULL;
