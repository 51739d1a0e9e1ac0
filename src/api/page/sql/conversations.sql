-- The conversations with most bytes, and how many there are: conversations() of the selection, whose stretch of time is told a second time, for what TCP sent again.
SELECT process_id, who, c.process, peer, sockets, sent_bytes, received_bytes, calls, round_trips, waited_ns, retransmissions, sent_again_bytes, errors,
       count(*) OVER () AS all_conversations
FROM conversations(since_ns := $from_ns, until_ns := $to_ns) c LEFT JOIN _page_processes USING (process_id)
ORDER BY coalesce(sent_bytes, 0) + coalesce(received_bytes, 0) DESC, calls DESC, c.process, peer LIMIT $most
