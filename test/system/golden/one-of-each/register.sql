-- One record of each kind, every field measured.
INSERT INTO groups VALUES (7, 'present', 'Cloud Gardeners', 'We grow gardens.', 'owned', 1042, 'marlow_finch', 48213,
  1, 0, '2019-05-04T17:20:00Z', '2026-10-01T08:00:00Z', '2026-11-20T09:00:00Z', 42, 'cloud-gardeners');
INSERT INTO group_member_readings VALUES
  (7, '2026-10-20T08:00:00Z', 40000),
  (7, '2026-11-12T08:00:00Z', 48000),
  (7, '2026-11-19T07:00:00Z', 50000),
  (7, '2026-11-20T08:00:00Z', 48213);
INSERT INTO group_names VALUES
  (7, 1, 'Sky Gardeners', NULL, '2026-10-01T08:00:00Z', '2026-10-20T08:00:00Z'),
  (7, 2, 'Cloud Gardeners', '2026-10-21T10:30:00Z', '2026-11-12T08:00:00Z', '2026-11-20T09:00:00Z');
INSERT INTO group_owners VALUES
  (7, 1, 'none', NULL, NULL, '2026-10-01T08:00:00Z', '2026-10-01T08:00:00Z'),
  (7, 2, 'owned', 1042, 'marlow_finch', '2026-10-20T08:00:00Z', '2026-11-20T09:00:00Z');
INSERT INTO users VALUES (1042, 'present', 'marlow_finch', 'Marlow', 1, '2017-02-11T09:00:00Z',
  '2026-09-01T08:00:00Z', '2026-11-18T08:00:00Z', 9, '81384788765712384');
INSERT INTO usernames VALUES
  (1042, 1, 'mfinch', NULL, '2026-09-01T08:00:00Z', '2026-09-15T08:00:00Z'),
  (1042, 2, 'marlow_finch', '2026-09-16T00:00:00Z', '2026-09-20T08:00:00Z', '2026-11-18T08:00:00Z');
INSERT INTO games VALUES (88123, 190551, 'present', 'Lantern Harbour', 'Sail out at dusk.', 'group', 7, 'Cloud Gardeners',
  'paid', 25, 1290, 70214993000, 90311, 41020, 3177, 30, 'Adventure', '2020-08-30T14:00:00Z', '2026-11-02T18:45:00Z',
  '2026-08-01T00:00:00Z', '2026-11-20T08:30:00Z', 5, '9007199254740992');
INSERT INTO items VALUES (30551982, 'present', 'Copper Diving Helmet', 'Polished by hand.', 8, 'Hat', 'user', 1042,
  'marlow_finch', 'priced', 120, 0, 1, 1180, 1336, 5000, 0, 4783, '2018-05-30T07:25:25Z', '2026-10-01T12:00:00Z',
  '2026-07-01T00:00:00Z', '2026-11-17T08:00:00Z', 11, 'Copper helmet/8');
-- Withholding what isn't there changes nothing.
INSERT INTO withheld VALUES ('group', 88123, '2026-01-01T00:00:00Z'), ('item', 7, '2026-01-01T00:00:00Z');
