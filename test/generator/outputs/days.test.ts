/** A date of the platform may be a day: it is published as it is, and no time of day is made up. */
import { describe, expect, it } from 'vitest';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { moment } from '../../../generator/outputs/pages/words.js';
import { temporary } from '../../support/folder.js';
import { inProcess } from '../../support/in-process.js';
import { writeRegister } from '../../support/register.js';
import { json, readTree } from '../../support/tree.js';
import { containing } from '../../support/values.js';

const path = temporary();

const DAY = '2020-09-16';
const named = (position: number, name: string, changed_at: string | null, at: string) => ({
  group_id: 7,
  position,
  name,
  changed_at,
  first_measured_at: at,
  last_measured_at: at,
});

const out = path('dist');
const register = writeRegister(path('register.sqlite'), {
  groups: [
    { id: 7, name: 'Old Mill', created_at: DAY },
    { id: 8, created_at: '2020-09-16T12:00:00Z' },
    { id: 9, created_at: '2020-09-17' },
  ],
  games: [{ id: 5, created_at: DAY, updated_at: '2021-01-02', first_measured_at: null }],
  group_names: [
    named(1, 'Mill', null, '2026-11-01T08:00:00Z'),
    named(2, 'Old Mill', '2026-11-19', '2026-11-20T08:00:00Z'),
  ],
});
const { stderr: messages } = await inProcess('build', '--register', register, '--out', out);
const tree = readTree(out);

describe('a day without a time', () => {
  it('is in JSON, CSV and feeds as it was written', () => {
    // Neither early nor late enough for a warning.
    expect(messages).not.toContain('_at is');
    expect(json(tree, 'api/v1/group/7.json')).toMatchObject({ created_at: DAY });
    expect(json(tree, 'group/7/history.json')).toMatchObject({ names: [{}, { changed_at: '2026-11-19' }] });
    expect(json(tree, 'api/v1/game/5.json')).toMatchObject({ created_at: DAY, updated_at: '2021-01-02' });
    expect(tree.get('downloads/groups.csv')?.text).toContain(`,${DAY},`);
    expect(json(tree, 'api/v1/recent.json')).toMatchObject({ group_names: [{ changed_at: '2026-11-19' }] });
    const feed = tree.get('feeds/groups.atom')?.text ?? '';
    expect(feed).toContain('2026-11-19, according to the platform');
    // RFC 4287 knows no days.
    expect(feed).toContain('<published>2026-11-20T08:00:00Z</published>');
  });

  it('sorts before the times of that day, and is a day on pages', () => {
    const front = tree.get('index.html')?.text ?? '';
    expect(front).toContain('<time datetime="2026-11-19" title="19 November 2026">19 Nov 2026</time>');
    expect(moment(DAY)).toBe('16 September 2020');
    expect(json(tree, 'api/v1/newest.json')).toMatchObject({ groups: [{ id: 9 }, { id: 8 }, { id: 7 }] });
  });

  it('is text in Parquet and in the Data Package, while measured times stay times', async () => {
    const file = await asyncBufferFromFile(`${out}/downloads/groups.parquet`);
    const rows = await parquetReadObjects({ file, columns: ['created_at', 'measured_at'] });
    expect(rows).toMatchObject([
      { created_at: DAY, measured_at: new Date('2026-11-20T08:00:00Z') },
      { created_at: '2020-09-16T12:00:00Z' },
      { created_at: '2020-09-17' },
    ]);
    const fields = tree.get('downloads/datapackage.json')?.text ?? '';
    expect(fields).toContain('"name":"created_at","type":"string"');
    expect(fields).toContain('"name":"measured_at","type":"datetime"');
  });

  it('is described: a time, or a day', () => {
    const time = { type: 'string', format: 'date-time' };
    const created = { anyOf: [time, { type: ['string', 'null'], format: 'date' }] };
    const description = containing('A time, or a day.');
    const properties = { created_at: { ...created, description }, measured_at: time };
    const schemas = { Group: { properties } };
    expect(json(tree, 'api/v1/openapi.json')).toMatchObject({ components: { schemas } });
  });
});
