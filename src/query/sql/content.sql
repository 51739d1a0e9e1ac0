-- How content was looked at, and what was met in it. A mark may begin before the bytes of its event: its position is below 0 then.

-- statement how_looked_at: one row: what was recorded of content, with which distance and key.
SELECT reason FROM coverage WHERE source = 'content'

-- statement anchors: event, position, fingerprint, sum of all bytes of the event up to its window's end, or 0; in the order of events and positions.
SELECT _event_id(host_index, cpu, parent_sequence) AS event, position::BIGINT, fingerprint, coalesce(prefix_sum, 0)::UBIGINT FROM internal.raw_anchor ORDER BY 1, 2

-- statement dye_marks: event, position, dye, length; in the order of events and positions. $dye: its name, or NULL for all. A dye is the same on all hosts if its name
-- is. How long its forms are follows from its length, but for url and json, which are that long at least.
WITH d AS (SELECT host_index, dye_id, hash(any_value(name)) AS dye, any_value(length)::UBIGINT AS length FROM internal.raw_dye
  WHERE $dye IS NULL OR name = $dye
  GROUP BY host_index, dye_id)
SELECT _event_id(x.host_index, x.cpu, x.parent_sequence) AS event, x.position::BIGINT, d.dye,
  CASE _dye_form_name(x.form) WHEN 'base64_0' THEN 8 * length // 6 WHEN 'base64_1' THEN 8 * (length + 1) // 6 - 2
    WHEN 'base64_2' THEN 8 * (length + 2) // 6 - 3 WHEN 'hex' THEN 2 * length WHEN 'utf16le' THEN 2 * length ELSE length END::UBIGINT
FROM internal.raw_dye_hit x JOIN d USING (host_index, dye_id) ORDER BY 1, 2

-- statement sums: event, sum of all its bytes.
SELECT _event_id(host_index, cpu, sequence), content_sum FROM internal.raw_syscall_event WHERE unread_bytes = 0 AND content_sum IS NOT NULL
UNION ALL SELECT _event_id(host_index, cpu, sequence), content_sum FROM internal.raw_part_event WHERE unread_bytes = 0 AND content_sum IS NOT NULL

-- statement anchor_sums: event, end of the anchor's window of 32 bytes, fingerprint, sum of all bytes up to there; in the order of events and positions.
SELECT _event_id(host_index, cpu, parent_sequence) AS event, (position + 32)::UBIGINT, fingerprint, prefix_sum
FROM internal.raw_anchor WHERE prefix_sum IS NOT NULL ORDER BY 1, 2
