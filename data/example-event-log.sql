-- The event log of docs/your-register.md: names and owners as runs, of such tables:
--
--   CREATE TABLE server (
--     snowflake     TEXT PRIMARY KEY,
--     title         TEXT,
--     boss          TEXT,            -- player.snowflake; '': no owner; NULL: not read
--     first_seen_ms INTEGER NOT NULL,
--     last_seen_ms  INTEGER NOT NULL
--   );
--   CREATE TABLE player (snowflake TEXT PRIMARY KEY, handle TEXT, last_seen_ms INTEGER NOT NULL);
--   CREATE TABLE population (server TEXT NOT NULL, at_ms INTEGER NOT NULL, n INTEGER,
--     PRIMARY KEY (server, at_ms));
--   CREATE TABLE event (server TEXT NOT NULL, what TEXT NOT NULL, old TEXT, new TEXT,
--     at_ms INTEGER NOT NULL); -- what: 'title' or 'boss'
--
-- `scaffold` drafts the other views, with ids_server and ids_player, the numbers of the text ids.

CREATE INDEX IF NOT EXISTS event_by_server ON event (server, what, at_ms);
DROP VIEW IF EXISTS runs;
CREATE VIEW runs AS SELECT id, k, what, value, at_ms,
  row_number() OVER run AS position, lead(at_ms) OVER run AS next_ms
FROM (
  SELECT id, k, what, new AS value, at_ms FROM ids_server JOIN event ON server = k
  UNION ALL
  SELECT id, k, kind, CASE
      WHEN EXISTS (SELECT 1 FROM event WHERE server = k AND what = kind)
        THEN (SELECT old FROM event WHERE server = k AND what = kind ORDER BY at_ms LIMIT 1)
      WHEN kind = 'title' THEN title ELSE boss END, first_seen_ms
    FROM ids_server JOIN server ON snowflake = k
      CROSS JOIN (SELECT 'title' AS kind UNION ALL SELECT 'boss')
)
WHERE value IS NOT NULL WINDOW run AS (PARTITION BY id, what ORDER BY at_ms);

DROP VIEW IF EXISTS timed_runs;
CREATE VIEW timed_runs AS SELECT *,
  strftime('%Y-%m-%dT%H:%M:%SZ', at_ms / 1000, 'unixepoch') AS first_measured_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', max(at_ms, coalesce((SELECT max(population.at_ms) FROM population
    WHERE server = k AND population.at_ms < coalesce(next_ms, 1e15)), 0)) / 1000, 'unixepoch')
    AS last_measured_at
FROM runs;

DROP VIEW IF EXISTS group_names;
CREATE VIEW group_names AS SELECT id AS group_id, position, value AS name,
  first_measured_at, last_measured_at FROM timed_runs WHERE what = 'title';

DROP VIEW IF EXISTS group_owners;
CREATE VIEW group_owners AS SELECT timed_runs.id AS group_id, position,
  iif(value = '', 'none', 'owned') AS owner_state,
  ids_player.id AS owner_id, handle AS owner_name, first_measured_at, last_measured_at
FROM timed_runs LEFT JOIN ids_player ON ids_player.k = value
  LEFT JOIN player ON snowflake = value
WHERE what = 'boss';
