-- The views of the tracker of clubs in docs/your-register.md: text ids, days with slashes, milliseconds
-- and local times with the day first. Its table ids_club has the number of each club.

DROP VIEW IF EXISTS groups;
CREATE VIEW groups AS SELECT
  ids_club.id AS id,
  slug AS platform_id,
  title AS name,
  (SELECT members FROM club_count WHERE club_count.slug = club.slug ORDER BY
    substr(at, 7, 4) || substr(at, 4, 2) || substr(at, 1, 2) || substr(at, 11) DESC LIMIT 1)
    AS member_count,
  replace(founded, '/', '-') AS created_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', first_seen / 1000, 'unixepoch') AS first_measured_at,
  strftime('%Y-%m-%dT%H:%M:%SZ', substr(last_seen, 7, 4) || '-' || substr(last_seen, 4, 2) || '-' ||
    substr(last_seen, 1, 2) || substr(last_seen, 11), 'utc') AS measured_at
FROM club JOIN ids_club ON k = slug;

DROP VIEW IF EXISTS group_member_readings;
CREATE VIEW group_member_readings AS SELECT
  ids_club.id AS group_id,
  strftime('%Y-%m-%dT%H:%M:%SZ', substr(at, 7, 4) || '-' || substr(at, 4, 2) || '-' ||
    substr(at, 1, 2) || substr(at, 11), 'utc') AS measured_at,
  members AS member_count
FROM club_count JOIN ids_club ON k = slug;

CREATE INDEX IF NOT EXISTS club_count_by_slug ON club_count (slug);
