-- What TCP sent again on the sockets of a conversation.
SELECT * FROM (SELECT epoch_ns(time) - (SELECT epoch_ns(time) - at_ns FROM selected LIMIT 1) AS at_ns, * FROM retransmissions)
WHERE object_id IN (SELECT object_id FROM socket_calls() WHERE $condition) AND $stretch
ORDER BY at_ns LIMIT 1000
