-- Withheld records of every kind: neither published, nor named where others point at them.
INSERT INTO withheld VALUES
  ('group', 50, '2026-01-01T00:00:00Z'),
  ('user', 60, '2026-01-01T00:00:00Z'),
  ('user', 62, '2026-01-01T00:00:00Z'), -- not in users at all
  ('game', 70, '2026-01-01T00:00:00Z'),
  ('item', 80, '2026-01-01T00:00:00Z');
INSERT INTO groups (id, name, owner_state, owner_id, owner_name, member_count, first_measured_at, measured_at, measurements)
VALUES
  (50, 'Hidden Group', 'owned', 61, 'sunny', 1000000, '2020-01-01T00:00:00Z', '2026-12-01T00:00:00Z', 1000),
  (51, 'Owned by id', 'owned', 60, 'shadow', 10, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (52, 'Owned by name', 'owned', NULL, 'shadow', 9, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (53, 'Owned by old name', 'owned', NULL, 'old_shadow', 8, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  -- Another user, who took the name over.
  (54, 'Owned by namesake', 'owned', 61, 'shadow', 7, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1);
INSERT INTO group_member_readings VALUES
  (50, '2026-11-19T00:00:00Z', 999999), (50, '2026-11-20T00:00:00Z', 1000000), (51, '2026-11-20T00:00:00Z', 10);
INSERT INTO group_names VALUES
  (50, 1, 'Veiled Group', NULL, '2020-01-01T00:00:00Z', '2020-02-01T00:00:00Z'),
  (50, 2, 'Hidden Group', NULL, '2020-02-02T00:00:00Z', '2026-12-01T00:00:00Z');
INSERT INTO group_owners VALUES
  (50, 1, 'none', NULL, NULL, '2020-01-01T00:00:00Z', '2020-02-01T00:00:00Z'),
  (50, 2, 'owned', 61, 'sunny', '2020-02-02T00:00:00Z', '2026-12-01T00:00:00Z'),
  (51, 1, 'owned', 60, 'old_shadow', '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z'),
  (51, 2, 'owned', 61, 'sunny', '2026-11-03T00:00:00Z', '2026-11-04T00:00:00Z'),
  (51, 3, 'owned', NULL, 'shadow', '2026-11-05T00:00:00Z', '2026-11-20T00:00:00Z');
INSERT INTO users (id, username, display_name, first_measured_at, measured_at, measurements) VALUES
  (60, 'shadow', 'Shadow', '2020-01-01T00:00:00Z', '2026-12-01T00:00:00Z', 1000),
  (61, 'sunny', NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1);
INSERT INTO usernames VALUES
  (60, 1, 'old_shadow', NULL, '2020-01-01T00:00:00Z', '2020-02-01T00:00:00Z'),
  (60, 2, 'shadow', NULL, '2020-02-02T00:00:00Z', '2026-12-01T00:00:00Z'),
  (61, 1, 'sunny', NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z');
INSERT INTO games (id, creator_type, creator_id, creator_name, playing, visits, first_measured_at, measured_at, measurements)
VALUES
  (70, 'user', 61, 'sunny', 5000, 5000, '2020-01-01T00:00:00Z', '2026-12-01T00:00:00Z', 1000),
  (71, 'user', 60, 'shadow', NULL, 1, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (72, 'group', 50, 'Hidden Group', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (73, 'user', NULL, 'old_shadow', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  -- Of unknown type: it may be either, so either hides it.
  (74, NULL, 60, NULL, NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (75, NULL, NULL, 'Veiled Group', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  -- The number or the name of a withheld record, but of the other kind.
  (76, 'group', 60, 'Sixty', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (77, 'user', 50, 'Fifty', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (78, 'group', NULL, 'shadow', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (79, 'user', 62, 'ghost', NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1);
-- Of those that are neither withheld nor deleted, two have as many favourites, and are as old.
INSERT INTO items (id, state, creator_type, creator_id, creator_name, favourites, created_at, first_measured_at, measured_at, measurements)
VALUES
  (80, NULL, 'user', 61, 'sunny', 9, '2026-11-09T00:00:00Z', '2020-01-01T00:00:00Z', '2026-12-01T00:00:00Z', 1000),
  (81, NULL, 'user', 60, 'shadow', 3, '2026-11-02T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (82, NULL, 'group', NULL, 'Veiled Group', 3, '2026-11-02T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (83, NULL, NULL, NULL, NULL, 4, '2026-10-31T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (84, 'deleted', NULL, NULL, NULL, 7, '2026-11-08T00:00:00Z', '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1);
