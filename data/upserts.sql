-- What a crawler writes to a register with the tables of schema.sql when it has measured a group, in a
-- transaction for each measurement or for a batch of them. :now is text such as 2026-11-20T08:00:00Z.
-- Leave out the statements for what a measurement didn't read. Owners, users and their usernames
-- follow the same pattern. A group that was renamed and renamed back has three rows in group_names.

BEGIN;

-- The record: new, or measured again.
INSERT INTO groups (id, state, name, member_count, first_measured_at, measured_at, measurements)
VALUES (:id, 'present', :name, :members, :now, :now, 1)
ON CONFLICT (id) DO UPDATE SET
  state = excluded.state,
  name = excluded.name,
  member_count = excluded.member_count,
  measured_at = excluded.measured_at,
  measurements = measurements + 1;

-- The reading.
INSERT INTO group_member_readings (group_id, measured_at, member_count)
VALUES (:id, :now, :members)
ON CONFLICT (group_id, measured_at) DO UPDATE SET member_count = excluded.member_count;

-- The name: the newest run goes on ...
UPDATE group_names SET last_measured_at = :now
WHERE group_id = :id AND name = :name
  AND position = (SELECT max(position) FROM group_names WHERE group_id = :id);

-- ... or another run begins.
INSERT INTO group_names (group_id, position, name, first_measured_at, last_measured_at)
SELECT :id, (SELECT count(*) FROM group_names WHERE group_id = :id) + 1, :name, :now, :now
WHERE NOT EXISTS (SELECT 1 FROM group_names WHERE group_id = :id AND last_measured_at = :now);

COMMIT;
