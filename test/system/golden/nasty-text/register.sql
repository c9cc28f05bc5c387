-- Text that breaks what is careless: controls and NUL, quotes, markup, what only looks like JSON, the empty text.
INSERT INTO groups (id, name, description, owner_state, owner_id, owner_name, member_count, first_measured_at, measured_at, measurements)
VALUES
  (1, char(0, 1, 8, 9, 10, 11, 12, 13, 27, 31, 127, 128, 159), '"\/</script><!-- & ''', 'owned', NULL, '', 3,
    '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1),
  -- A family, line and paragraph separators, a byte order mark, the replacement character, noncharacters, the last one.
  (2, char(0x1F469, 0x200D, 0x1F467, 0x2028, 0x2029, 0xFEFF, 0xFFFD, 0xFFFE, 0xFFFF, 0x10FFFF),
    char(0x202E) || 'שלום' || char(0x202C), NULL, NULL, NULL, 2, '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1),
  (3, '', '  =SUM(A1)' || char(9, 13, 10), NULL, NULL, NULL, 1, '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1);
INSERT INTO group_names SELECT id, 1, name, NULL, measured_at, measured_at FROM groups;
INSERT INTO group_owners VALUES (1, 1, 'owned', NULL, '', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z');
-- The same letter composed and decomposed, which must not become one.
INSERT INTO users (id, username, display_name, first_measured_at, measured_at, measurements) VALUES
  (4, char(0), char(0xE9) || ' ' || 'e' || char(0x301), '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1),
  (5, 'null', 'true', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1);
INSERT INTO usernames SELECT id, 1, username, NULL, measured_at, measured_at FROM users;
INSERT INTO games (id, name, description, creator_name, genre, first_measured_at, measured_at, measurements) VALUES
  (6, '[1]', '0', '', '{"a":1}', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1);
INSERT INTO items (id, name, description, asset_type, first_measured_at, measured_at, measurements) VALUES
  (7, 'back\u0000slash', 'http://example.com/%00?a=b&c', '[]', '2026-11-20T08:00:00Z', '2026-11-20T08:00:00Z', 1);
