-- Groups of equal size, one deleted, one never counted, one withheld, one of no members.
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
