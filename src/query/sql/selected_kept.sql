-- The same, held in memory; `arguments` is long text that few ask for.
CREATE OR REPLACE TEMP TABLE _page_kept AS SELECT * EXCLUDE (arguments) FROM _page_events;
