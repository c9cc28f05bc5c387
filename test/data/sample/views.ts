/** What to find in a register: a sentence, and what stands after SELECT * FROM to find rows of which it speaks. */
export type Findings = Readonly<Record<string, string>>;

/** The findings of each of the values. */
export function each(values: readonly string[], findings: (value: string) => Findings): Findings {
  return Object.fromEntries(values.flatMap((value) => Object.entries(findings(value))));
}

/** What shapes and faults are looked for in: histories with the entry before, and what several tables have alike. */
export const VIEWS = `
  CREATE TEMP VIEW records AS
    SELECT 'group' AS kind, id, first_measured_at, measured_at, measurements FROM groups UNION ALL
    SELECT 'user', id, first_measured_at, measured_at, measurements FROM users UNION ALL
    SELECT 'game', id, first_measured_at, measured_at, measurements FROM games UNION ALL
    SELECT 'item', id, first_measured_at, measured_at, measurements FROM items;
  CREATE TEMP VIEW descriptions AS
    SELECT description FROM groups UNION ALL SELECT description FROM games UNION ALL SELECT description FROM items;
  CREATE TEMP VIEW known AS
    SELECT 'user' AS kind, id, username AS name FROM users UNION ALL SELECT 'group', id, name FROM groups;
  CREATE TEMP VIEW all_owners AS
    SELECT owner_state, owner_id, owner_name FROM groups UNION ALL
    SELECT owner_state, owner_id, owner_name FROM group_owners;
  CREATE TEMP VIEW creators AS
    SELECT 'game' AS of, creator_type AS type, creator_id AS id, creator_name AS name FROM games UNION ALL
    SELECT 'item', creator_type, creator_id, creator_name FROM items;
  CREATE TEMP VIEW readings AS
    SELECT *, lag(member_count) OVER series AS earlier, lag(measured_at) OVER series AS earlier_at,
      lead(measured_at) OVER series AS later_at
    FROM group_member_readings WINDOW series AS (PARTITION BY group_id ORDER BY measured_at);
  CREATE TEMP VIEW newest_readings AS SELECT * FROM readings WHERE later_at IS NULL;
  CREATE TEMP VIEW names AS
    SELECT *, lag(name) OVER entries AS earlier, lag(name, 2) OVER entries AS before_that,
      lag(last_at) OVER entries AS earlier_last_at, lag(first_at) OVER entries AS earlier_first_at,
      lag(changed_at) OVER entries AS earlier_changed_at, lead(name) OVER entries AS later,
      count(*) OVER (PARTITION BY kind, id) AS entries
    FROM (
      SELECT 'group' AS kind, group_id AS id, position, name, changed_at,
        first_measured_at AS first_at, last_measured_at AS last_at FROM group_names UNION ALL
      SELECT 'user', user_id, position, username, changed_at, first_measured_at, last_measured_at FROM usernames
    ) WINDOW entries AS (PARTITION BY kind, id ORDER BY position);
  CREATE TEMP VIEW owners AS
    SELECT *, lag(owner_state) OVER entries AS earlier_state, lag(owner_id) OVER entries AS earlier_id,
      lag(last_measured_at) OVER entries AS earlier_last_at, lead(position) OVER entries AS later
    FROM group_owners WINDOW entries AS (PARTITION BY group_id ORDER BY position);
  CREATE TEMP VIEW learned AS
    SELECT kind, id FROM names GROUP BY kind, id
    HAVING count(*) > 1 AND min(first_at) = max(last_at) AND sum(changed_at IS NOT NULL) = count(*) - 1;`;
