-- One record of each kind of which nothing is known but that it was measured; no history rows.
INSERT INTO groups (id, first_measured_at, measured_at, measurements)
VALUES (7, '2026-11-01T08:00:00Z', '2026-11-20T08:00:00Z', 3);
INSERT INTO users (id, first_measured_at, measured_at, measurements)
VALUES (1042, '2026-11-02T08:00:00Z', '2026-11-19T08:00:00Z', 2);
INSERT INTO games (id, first_measured_at, measured_at, measurements)
VALUES (88123, '2026-11-03T08:00:00Z', '2026-11-03T08:00:00Z', 1);
INSERT INTO items (id, first_measured_at, measured_at, measurements)
VALUES (9007199254740991, '2026-11-04T08:00:00Z', '2026-11-05T08:00:00Z', 0);
