/** A small register that lacks most of what it may, and what its operator says of it. */
import { runSql } from '../../support/register.js';

export const CLUBS = {
  name: 'Golden',
  licence: { name: 'CC0 1.0', url: 'https://creativecommons.org/publicdomain/zero/1.0/' },
  headline: 'How big is your club?',
  introduction: 'We count every evening.',
  source_url: 'https://git.example/register-api',
  words: {
    group: { one: 'club', many: 'clubs' },
    user: { one: 'player', many: 'players' },
    game: { one: 'island', many: 'islands' },
  },
};

export const MEASURED =
  'first_measured_at TEXT NOT NULL, measured_at TEXT NOT NULL, measurements INT NOT NULL';
export const READ = `'2026-10-01T08:00:00Z', '2026-11-20T08:00:00Z', 2`;

export const writeClubs = (file: string): string =>
  runSql(
    file,
    `PRAGMA user_version = 1;
    CREATE TABLE groups (id INTEGER PRIMARY KEY, name TEXT, owner_id INT, owner_state TEXT,
      member_count INT, ${MEASURED}) STRICT;
    CREATE TABLE group_member_readings (group_id INT, measured_at TEXT, member_count INT,
      PRIMARY KEY (group_id, measured_at)) STRICT, WITHOUT ROWID;
    CREATE TABLE users (id INTEGER PRIMARY KEY, username TEXT, ${MEASURED}) STRICT;
    CREATE TABLE games (id INTEGER PRIMARY KEY, name TEXT, visits INT, ${MEASURED}) STRICT;
    INSERT INTO groups VALUES (4, 'Quiet Arcade', 7, 'owned', 120, ${READ});
    INSERT INTO groups VALUES (5, 'Chess', NULL, NULL, 80, ${READ});
    INSERT INTO groups VALUES (6, NULL, NULL, NULL, NULL, ${READ});
    INSERT INTO group_member_readings VALUES (4, '2026-10-20T08:00:00Z', 100);
    INSERT INTO group_member_readings VALUES (4, '2026-11-20T08:00:00Z', 120);
    INSERT INTO group_member_readings VALUES (5, '2026-10-20T08:00:00Z', 85);
    INSERT INTO group_member_readings VALUES (5, '2026-11-20T08:00:00Z', 80);
    INSERT INTO users VALUES (7, 'silver_owl', ${READ});
    INSERT INTO games VALUES (9, 'Lagoon', 1234, ${READ});`,
  );
