-- Names that return, dated and undated changes, owners that go, gaps, falling counts, ties in the peak, and
-- readings exactly on, just inside and just beyond the windows of `change`.
INSERT INTO groups (id, name, owner_state, owner_id, owner_name, member_count, first_measured_at, measured_at, measurements)
VALUES
  (1, 'A', 'owned', 12, NULL, 300, '2026-01-01T00:00:00Z', '2026-11-20T08:00:00Z', 10),
  (2, 'Newer', NULL, NULL, NULL, 110, '2026-10-01T00:00:00Z', '2026-11-20T08:00:00Z', 10),
  (3, NULL, NULL, NULL, NULL, 550, '2026-10-01T00:00:00Z', '2026-11-20T08:00:00Z', 10),
  (4, NULL, NULL, NULL, NULL, 5, '2026-10-01T00:00:00Z', '2026-11-20T08:00:00Z', 10),
  (5, NULL, NULL, NULL, NULL, 70, '2026-10-01T00:00:00Z', '2026-11-20T08:00:00Z', 10),
  (6, NULL, NULL, NULL, NULL, 0, '2026-10-01T00:00:00Z', '2026-11-20T08:00:00Z', 10),
  (7, NULL, NULL, NULL, NULL, 11, '2024-02-01T00:00:00Z', '2026-11-21T08:00:00Z', 10);
INSERT INTO group_names VALUES
  (1, 1, 'A', NULL, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
  (1, 2, 'B', '2026-02-03T12:00:00Z', '2026-02-05T00:00:00Z', '2026-03-01T00:00:00Z'),
  (1, 3, 'A', NULL, '2026-03-08T00:00:00Z', '2026-11-20T08:00:00Z'),
  -- The platform's own list: the old name was never read apart from the new one.
  (2, 1, 'Old', NULL, '2026-11-01T08:00:00Z', '2026-11-01T08:00:00Z'),
  (2, 2, 'Newer', '2025-05-05T05:05:05Z', '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z');
INSERT INTO group_owners VALUES
  (1, 1, 'owned', 11, 'ana', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
  (1, 2, 'none', NULL, NULL, '2026-02-02T00:00:00Z', '2026-03-01T00:00:00Z'),
  (1, 3, 'owned', 12, NULL, '2026-03-02T00:00:00Z', '2026-11-20T08:00:00Z');
INSERT INTO group_member_readings VALUES
  -- Long gaps, a peak reached twice, a fall.
  (1, '2026-01-01T00:00:00Z', 500),
  (1, '2026-03-01T00:00:00Z', 900),
  (1, '2026-06-01T00:00:00Z', 900),
  (1, '2026-11-20T08:00:00Z', 300),
  -- Exactly one window before.
  (2, '2026-10-21T08:00:00Z', 50),
  (2, '2026-11-13T08:00:00Z', 80),
  (2, '2026-11-19T08:00:00Z', 100),
  (2, '2026-11-20T08:00:00Z', 110),
  -- Exactly one and a half windows before: still near enough.
  (3, '2026-10-06T08:00:00Z', 1000),
  (3, '2026-11-09T20:00:00Z', 700),
  (3, '2026-11-18T20:00:00Z', 600),
  (3, '2026-11-20T08:00:00Z', 550),
  -- A second more than one and a half windows: too old.
  (4, '2026-10-06T07:59:59Z', 5),
  (4, '2026-11-09T19:59:59Z', 5),
  (4, '2026-11-18T19:59:59Z', 5),
  (4, '2026-11-20T08:00:00Z', 5),
  -- A second too young for each window, and then a second inside one and a half windows.
  (5, '2026-10-06T08:00:01Z', 10),
  (5, '2026-10-21T08:00:01Z', 20),
  (5, '2026-11-09T20:00:01Z', 30),
  (5, '2026-11-13T08:00:01Z', 40),
  (5, '2026-11-18T20:00:01Z', 50),
  (5, '2026-11-19T08:00:01Z', 60),
  (5, '2026-11-20T08:00:00Z', 70),
  -- One reading, a measured zero.
  (6, '2026-11-20T08:00:00Z', 0),
  -- The newest reading counts, not the record's own time.
  (7, '2024-02-28T00:00:00Z', 10),
  (7, '2024-02-29T00:00:00Z', 11);
INSERT INTO users (id, username, first_measured_at, measured_at, measurements) VALUES
  (21, 'alpha', '2026-01-01T00:00:00Z', '2026-11-20T08:00:00Z', 4),
  (22, 'three', '2026-11-20T07:00:00Z', '2026-11-20T07:00:00Z', 1);
INSERT INTO usernames VALUES
  (21, 1, 'alpha', NULL, '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z'),
  (21, 2, 'beta', '2026-02-02T00:00:00Z', '2026-02-03T00:00:00Z', '2026-03-01T00:00:00Z'),
  (21, 3, 'alpha', NULL, '2026-03-05T00:00:00Z', '2026-11-20T08:00:00Z'),
  (22, 1, 'one', NULL, '2026-11-20T07:00:00Z', '2026-11-20T07:00:00Z'),
  (22, 2, 'two', NULL, '2026-11-20T07:00:00Z', '2026-11-20T07:00:00Z'),
  (22, 3, 'three', NULL, '2026-11-20T07:00:00Z', '2026-11-20T07:00:00Z');
