-- Groups of equal size, one deleted, one never counted, one withheld, one of no members; and groups that moved, but for
-- those that are deleted, that gained none, or that were read last more than 7 days before the newest measurement.
INSERT INTO groups (id, state, name, owner_state, owner_id, owner_name, member_count, first_measured_at, measured_at, measurements)
VALUES
  (5, 'present', 'Five', 'none', NULL, NULL, 90, '2026-11-01T00:00:00Z', '2026-11-05T00:00:00Z', 1),
  (10, 'present', 'Ten', 'owned', 1, 'one', 100, '2026-11-01T00:00:00Z', '2026-11-10T00:00:00Z', 1),
  (11, 'present', 'Eleven', NULL, NULL, NULL, 90, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 1),
  (12, 'present', 'Twelve', NULL, NULL, NULL, 80, '2026-11-01T00:00:00Z', '2026-11-04T00:00:00Z', 1),
  (20, 'deleted', 'Deleted', NULL, NULL, NULL, 95, '2026-11-01T00:00:00Z', '2026-11-25T00:00:00Z', 1),
  (21, 'present', 'Uncounted', NULL, NULL, NULL, NULL, '2026-11-01T00:00:00Z', '2026-11-21T00:00:00Z', 1),
  (22, 'locked', 'Locked', NULL, NULL, NULL, 80, '2026-11-01T00:00:00Z', '2026-11-22T00:00:00Z', 1),
  (23, NULL, NULL, NULL, NULL, NULL, 80, '2026-11-01T00:00:00Z', '2026-11-06T00:00:00Z', 1),
  (30, 'present', 'Nobody', NULL, NULL, NULL, 0, '2026-11-01T00:00:00Z', '2026-11-02T00:00:00Z', 1),
  (31, 'present', 'Withheld', NULL, NULL, NULL, 999, '2026-11-01T00:00:00Z', '2026-11-30T00:00:00Z', 1);
INSERT INTO withheld VALUES ('group', 31, '2026-11-30T00:00:00Z');
INSERT INTO groups (id, state, first_measured_at, measured_at, measurements) VALUES
  (40, 'deleted', '2026-11-01T00:00:00Z', '2026-11-25T00:00:00Z', 2),
  (41, NULL, '2026-11-01T00:00:00Z', '2026-11-25T00:00:00Z', 2),
  (42, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 2),
  (43, NULL, '2026-11-01T00:00:00Z', '2026-11-20T00:00:00Z', 2);
INSERT INTO group_member_readings VALUES
  (40, '2026-11-18T00:00:00Z', 0), (40, '2026-11-25T00:00:00Z', 1000),
  (41, '2026-11-18T00:00:00Z', 7), (41, '2026-11-25T00:00:00Z', 7),
  -- Exactly 7 days before, and a second earlier.
  (42, '2026-11-11T00:00:00Z', 50), (42, '2026-11-18T00:00:00Z', 45),
  (43, '2026-11-10T23:59:59Z', 50), (43, '2026-11-17T23:59:59Z', 10);
