-- One record of each kind of which nothing is known but that it was measured; no history rows.
-- When it was measured first, or how often, is not known of each.
INSERT INTO groups (id, measured_at) VALUES (7, '2026-11-20T08:00:00Z');
INSERT INTO users (id, first_measured_at, measured_at) VALUES (1042, '2026-11-02T08:00:00Z', '2026-11-19T08:00:00Z');
INSERT INTO games (id, measured_at, measurements) VALUES (88123, '2026-11-03T08:00:00Z', 1);
INSERT INTO items (id, first_measured_at, measured_at, measurements)
VALUES (9007199254740991, '2026-11-04T08:00:00Z', '2026-11-05T08:00:00Z', 0);
