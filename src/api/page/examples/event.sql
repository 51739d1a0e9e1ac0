-- All that is known of an event.
SELECT * FROM selected WHERE $condition
