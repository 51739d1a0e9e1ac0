-- Pairs of contents that were moved in the selection and resemble each other, by fingerprint. The table `similarities` knows the first event of equal contents
-- only, wherever that is; so they are told by fingerprint.
WITH moved AS (SELECT DISTINCT fingerprint FROM selected WHERE bytes > 0 AND fingerprint IS NOT NULL)
SELECT a.fingerprint AS a, b.fingerprint AS b, max(s.jaccard) AS jaccard
FROM similarities s JOIN events a ON a.event_id = s.a JOIN events b ON b.event_id = s.b
WHERE s.item = 'event' AND a.fingerprint <> b.fingerprint AND a.fingerprint IN (SELECT fingerprint FROM moved)
      AND b.fingerprint IN (SELECT fingerprint FROM moved)
GROUP BY ALL ORDER BY jaccard DESC, 1, 2 LIMIT $most
