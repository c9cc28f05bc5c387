/** CSV of a history, as record pages make it. */
import { expect, it } from 'vitest';
import { parseCsv } from '../../../support/csv.js';
import { csvOf } from '../../../../generator/outputs/pages/csv.js';

const NASTY = ['', 'a "quoted", name', 'two\r\nlines', '=1+1', '  spaces ', '🦊'];

it('has a row for each entry, and any text as it is', () => {
  const csv = csvOf(
    { group_id: 7 },
    NASTY.map((name, index) => ({ position: index + 1, name, is_current: index === 5, changed_at: null })),
  );
  expect(csv).toMatch(/^group_id,position,name,is_current,changed_at\r\n7,1,"",false,\r\n/);
  const texts = NASTY.map((name, index) => ['7', String(index + 1), name, String(index === 5), null]);
  expect(parseCsv(csv).slice(1)).toEqual(texts);
});

it('flattens objects, also where some or all are null', () => {
  const owned = { position: 2, owner: { id: 5, name: null } };
  const none = { position: 1, owner: null };
  expect(csvOf({ group_id: 7 }, [none, owned])).toBe(
    'group_id,position,owner_id,owner_name\r\n7,1,,\r\n7,2,5,\r\n',
  );
  expect(csvOf({ group_id: 7 }, [none])).toBe('group_id,position,owner\r\n7,1,\r\n');
  expect(csvOf({ group_id: 7 }, [])).toBe('\r\n');
});
