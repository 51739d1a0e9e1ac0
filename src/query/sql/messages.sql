-- What went over TCP, or in datagrams whose bytes tell them apart, between different kernels, each told by its first host: for each call that took bytes, and each that sent some, the other one that had its
-- last byte, in the order in which they were received by the wall clocks, each moved by what $shifts says: (host_index, nanoseconds), …; rows of numbers (MessageColumn).
-- A call has begun to send its last byte when it began, and has taken its last byte when it ended. Times beyond 4611686018427387904 ns (146 years) are damage.
WITH shifts(host_index, shift_ns) AS (VALUES $shifts),
@moves_named,
ways AS (
  SELECT kernel AS host_index, other AS connection, transfer IN ('write', 'copy_from') AS sends, stream_offset AS stream_begin, stream_offset + bytes AS stream_end, start_ns, end_ns
  FROM named WHERE channel = {Channel.kTcp} AND transfer IN ('read', 'write', 'copy_to', 'copy_from') AND bytes > 0 AND stream_offset IS NOT NULL AND NOT unfinished
  UNION ALL
  SELECT kernel, other2, true, stream_offset, stream_offset + bytes, start_ns, end_ns
  FROM named WHERE channel2 = {Channel.kTcp} AND transfer = 'copy_to' AND bytes > 0 AND stream_offset IS NOT NULL AND NOT unfinished),
ends AS (SELECT connection, min(host_index) AS a, max(host_index) AS b FROM ways GROUP BY 1 HAVING count(DISTINCT host_index) = 2),
across AS (SELECT w.*, a + b - host_index AS peer FROM ways w JOIN ends USING (connection) SEMI JOIN internal.hosts USING (host_index)
  WHERE end_ns < 4611686018427387904),
sent AS (SELECT * FROM across WHERE sends),
taken AS (SELECT * FROM across WHERE NOT sends),
-- Which datagram it was its bytes tell, if nobody sent and nobody took the same ones a second time.
letters AS (SELECT kernel AS host_index, transfer = 'write' AS sends, start_ns, end_ns, other, bytes, fingerprint,
    CASE WHEN sends THEN addresses >> 32 ELSE addresses & 4294967295 END AS sender, CASE WHEN sends THEN addresses & 4294967295 ELSE addresses >> 32 END AS taker
  FROM named WHERE channel = {Channel.kDatagrams} AND other <> 0 AND bytes > 0 AND fingerprint IS NOT NULL AND NOT unfinished AND transfer <> 'peek' AND end_ns < 4611686018427387904),
datagrams AS (
  SELECT min(host_index) FILTER (sends) AS from_host, min(start_ns) FILTER (sends) AS sent_ns,
    min(host_index) FILTER (NOT sends) AS to_host, min(end_ns) FILTER (NOT sends) AS received_ns
  FROM letters GROUP BY other, bytes, fingerprint HAVING count(*) FILTER (sends) = 1 AND count(*) = 2
    AND (min(sender) = 0 OR min(sender) = max(sender)) AND (min(taker) = 0 OR min(taker) = max(taker))),
messages AS (
  SELECT s.host_index AS from_host, s.start_ns AS sent_ns, t.host_index AS to_host, t.end_ns AS received_ns
  FROM taken t ASOF JOIN sent s ON s.connection = t.connection AND s.host_index = t.peer AND s.stream_begin <= t.stream_end - 1 WHERE s.stream_end >= t.stream_end
  UNION ALL
  SELECT s.host_index, s.start_ns, t.host_index, t.end_ns
  FROM sent s ASOF JOIN taken t ON t.connection = s.connection AND t.host_index = s.peer AND t.stream_begin <= s.stream_end - 1 WHERE t.stream_end > s.stream_end
  UNION ALL
  FROM datagrams WHERE from_host <> to_host)
SELECT from_host::UBIGINT, sent_ns, to_host::UBIGINT, received_ns FROM messages m JOIN internal.hosts o ON o.host_index = m.to_host
JOIN shifts USING (host_index) ORDER BY received_ns::HUGEINT + o.wall_offset_ns + shift_ns, sent_ns
