-- The register's contract as STRICT tables. Only names matter: views may replace tables, columns may
-- be in any order, and extra tables and columns are ignored. NULL always means "not measured"; a
-- measured absence has a value. Times are RFC 3339 UTC in whole seconds (2026-11-20T08:00:00Z); those of
-- the platform (created_at, updated_at, changed_at) may be a day (2020-09-16). Texts have at most 1 MiB of UTF-8. Booleans are 0 or 1. Ids are 1 .. 2^53-1. An id of the platform that is
-- no such number is in platform_id, which no two rows of a table share.
PRAGMA user_version = 1;

CREATE TABLE groups (
  id                INTEGER PRIMARY KEY,
  state             TEXT, -- present · locked · deleted
  name              TEXT,
  description       TEXT,
  owner_state       TEXT, -- owned · none
  owner_id          INTEGER, -- this and the next are NULL where owner_state is 'none'
  owner_name        TEXT,
  member_count      INTEGER,
  public_entry      INTEGER,
  verified          INTEGER,
  created_at        TEXT,
  first_measured_at TEXT,
  measured_at       TEXT NOT NULL,
  measurements      INTEGER,
  platform_id       TEXT
) STRICT;

-- One row for each real reading; a gap in the series has no rows.
CREATE TABLE group_member_readings (
  group_id     INTEGER NOT NULL,
  measured_at  TEXT NOT NULL,
  member_count INTEGER NOT NULL,
  PRIMARY KEY (group_id, measured_at)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_names (
  group_id          INTEGER NOT NULL,
  position          INTEGER NOT NULL, -- 1 = oldest
  name              TEXT NOT NULL,
  changed_at        TEXT,             -- only where the platform itself dates the change
  first_measured_at TEXT NOT NULL,
  last_measured_at  TEXT NOT NULL,
  PRIMARY KEY (group_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_owners (
  group_id          INTEGER NOT NULL,
  position          INTEGER NOT NULL,
  owner_state       TEXT NOT NULL, -- owned · none
  owner_id          INTEGER,
  owner_name        TEXT,
  first_measured_at TEXT NOT NULL,
  last_measured_at  TEXT NOT NULL,
  PRIMARY KEY (group_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
  id                INTEGER PRIMARY KEY,
  state             TEXT, -- present · banned · deleted
  username          TEXT,
  display_name      TEXT,
  verified          INTEGER,
  created_at        TEXT,
  first_measured_at TEXT,
  measured_at       TEXT NOT NULL,
  measurements      INTEGER,
  platform_id       TEXT
) STRICT;

CREATE TABLE usernames (
  user_id           INTEGER NOT NULL,
  position          INTEGER NOT NULL,
  username          TEXT NOT NULL,
  changed_at        TEXT,
  first_measured_at TEXT NOT NULL,
  last_measured_at  TEXT NOT NULL,
  PRIMARY KEY (user_id, position)
) STRICT, WITHOUT ROWID;

CREATE TABLE games (
  id                INTEGER PRIMARY KEY, -- universe id
  root_place_id     INTEGER,
  state             TEXT, -- present · restricted · deleted
  name              TEXT,
  description       TEXT,
  creator_type      TEXT, -- user · group
  creator_id        INTEGER,
  creator_name      TEXT,
  access            TEXT, -- free · paid
  price             INTEGER,
  playing           INTEGER,
  visits            INTEGER,
  favourites        INTEGER,
  up_votes          INTEGER,
  down_votes        INTEGER,
  max_players       INTEGER,
  genre             TEXT,
  created_at        TEXT,
  updated_at        TEXT,
  first_measured_at TEXT,
  measured_at       TEXT NOT NULL,
  measurements      INTEGER,
  platform_id       TEXT
) STRICT;

CREATE TABLE items (
  id                   INTEGER PRIMARY KEY, -- asset id
  state                TEXT, -- present · deleted
  name                 TEXT,
  description          TEXT,
  asset_type_id        INTEGER,
  asset_type           TEXT,
  creator_type         TEXT, -- user · group
  creator_id           INTEGER,
  creator_name         TEXT,
  price_state          TEXT, -- priced · free · unlisted
  price                INTEGER,
  off_sale             INTEGER,
  limited              INTEGER,
  lowest_resale_price  INTEGER,
  recent_average_price INTEGER,
  quantity_total       INTEGER,
  quantity_remaining   INTEGER,
  favourites           INTEGER,
  created_at           TEXT,
  updated_at           TEXT,
  first_measured_at    TEXT,
  measured_at          TEXT NOT NULL,
  measurements         INTEGER,
  platform_id          TEXT
) STRICT;

-- Records that are published nowhere, not even by name as another record's owner or creator.
CREATE TABLE withheld (
  kind  TEXT NOT NULL, -- group · user · game · item
  id    INTEGER NOT NULL,
  since TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
