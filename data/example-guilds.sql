-- The views of docs/your-register.md: what `scaffold` drafts, completed, of such tables:
--
--   CREATE TABLE guild (
--     gid        INTEGER PRIMARY KEY,
--     status     TEXT,             -- 'ok', 'locked' or 'gone'
--     title      TEXT,
--     about      TEXT,
--     boss       INTEGER,          -- account.aid; 0: no owner; NULL: not read
--     heads      INTEGER,          -- members at the last reading
--     is_open    INTEGER,
--     founded    REAL,             -- Unix time, as are all times
--     first_seen REAL NOT NULL,
--     last_seen  REAL NOT NULL,
--     reads      INTEGER NOT NULL
--   );
--   CREATE TABLE headcount (gid INTEGER NOT NULL, at REAL NOT NULL, heads INTEGER NOT NULL);
--   CREATE INDEX headcount_by_guild ON headcount (gid, at);
--   CREATE TABLE title_log (gid INTEGER NOT NULL, title TEXT NOT NULL, seen_from REAL NOT NULL,
--     seen_to REAL NOT NULL);
--   CREATE INDEX title_log_by_guild ON title_log (gid, seen_from);
--   CREATE TABLE account (
--     aid        INTEGER PRIMARY KEY,
--     handle     TEXT,
--     nick       TEXT,
--     banned     INTEGER,
--     joined     REAL,
--     last_seen  REAL NOT NULL
--   );
--   CREATE TABLE experience (
--     universe   INTEGER PRIMARY KEY,
--     title      TEXT,
--     maker_kind TEXT,             -- 'player' or 'guild'
--     maker      INTEGER,          -- account.aid or guild.gid
--     visits     INTEGER,
--     last_seen  REAL NOT NULL
--   );

DROP VIEW IF EXISTS groups;
CREATE VIEW groups AS SELECT
  gid AS id,
  title AS name,
  about AS description,
  CASE status WHEN 'ok' THEN 'present' WHEN 'locked' THEN 'locked' WHEN 'gone' THEN 'deleted' END
    AS state,
  CASE WHEN boss = 0 THEN 'none' WHEN boss IS NOT NULL THEN 'owned' END AS owner_state,
  nullif(boss, 0) AS owner_id,
  (SELECT handle FROM account WHERE aid = boss) AS owner_name,
  heads AS member_count,
  is_open AS public_entry,
  strftime('%Y-%m-%dT%H:%M:%SZ', founded, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', first_seen, 'unixepoch') AS first_measured_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', last_seen, 'unixepoch') AS measured_at,
  reads AS measurements
FROM guild;

DROP VIEW IF EXISTS group_member_readings;
CREATE VIEW group_member_readings AS SELECT
  gid AS group_id,
  strftime('%Y-%m-%dT%H:%M:%SZ', at, 'unixepoch') AS measured_at,
  heads AS member_count
FROM headcount;

DROP VIEW IF EXISTS group_names;
CREATE VIEW group_names AS SELECT
  gid AS group_id,
  row_number() OVER (PARTITION BY gid ORDER BY seen_from) AS position,
  title AS name,
  strftime('%Y-%m-%dT%H:%M:%SZ', seen_from, 'unixepoch') AS first_measured_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', seen_to, 'unixepoch') AS last_measured_at
FROM title_log;

DROP VIEW IF EXISTS users;
CREATE VIEW users AS SELECT
  aid AS id,
  CASE banned WHEN 0 THEN 'present' WHEN 1 THEN 'banned' END AS state,
  handle AS username,
  nick AS display_name,
  strftime('%Y-%m-%dT%H:%M:%SZ', joined, 'unixepoch') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', last_seen, 'unixepoch') AS measured_at
FROM account;

DROP VIEW IF EXISTS games;
CREATE VIEW games AS SELECT
  universe AS id,
  title AS name,
  CASE maker_kind WHEN 'player' THEN 'user' WHEN 'guild' THEN 'group' END AS creator_type,
  maker AS creator_id,
  CASE maker_kind
    WHEN 'player' THEN (SELECT handle FROM account WHERE aid = maker)
    WHEN 'guild' THEN (SELECT title FROM guild WHERE gid = maker)
  END AS creator_name,
  visits,
  strftime('%Y-%m-%dT%H:%M:%SZ', last_seen, 'unixepoch') AS measured_at
FROM experience;
