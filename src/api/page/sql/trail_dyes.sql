-- The dyes that were met most often, in the whole trace.
SELECT dye FROM dye_hits GROUP BY dye ORDER BY count(*) DESC, dye LIMIT $most
