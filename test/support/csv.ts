/** CSV as RFC 4180 has it, read strictly: what is not exactly that is an error. Nothing is null, `""` an empty text. */

export function parseCsv(text: string): (string | null)[][] {
  const records: (string | null)[][] = [];
  let record: (string | null)[] = [];
  const cell = /"((?:[^"]|"")*)"|([^",\r\n]*)/gy;
  for (let at = 0; at < text.length;) {
    cell.lastIndex = at;
    const [whole = '', quoted, plain = ''] = cell.exec(text) ?? [];
    record.push(quoted === undefined ? (plain === '' ? null : plain) : quoted.replaceAll('""', '"'));
    at += whole.length;
    if (text[at] === ',') {
      at += 1;
      // Nothing behind the last comma is a cell, too.
      if (text[at] === '\r' || at === text.length) record.push(null);
      else continue;
    }
    if (!text.startsWith('\r\n', at))
      throw new Error(`no CRLF at ${at}: ${JSON.stringify(text.slice(at, at + 40))}`);
    at += 2;
    records.push(record);
    record = [];
  }
  if (record.length > 0) throw new Error('the last record has no line end');
  return records;
}

export function csvObjects(text: string): Record<string, string | null>[] {
  const [header = [], ...records] = parseCsv(text);
  return records.map((record) => {
    if (record.length !== header.length) throw new Error(`${record.length} cells, expected ${header.length}`);
    return Object.fromEntries(header.map((name, index) => [name ?? '', record[index] ?? null]));
  });
}
