/** Another process that writes into a register in WAL mode, one counted transaction after the other. */
import { spawn } from 'node:child_process';
import { PROJECT } from './folder.js';

/** Each transaction says the same number in six tables; the process ends when its input does. */
const SOURCE = `
  import { openDatabase } from './build/generator/sqlite/index.js';
  const database = openDatabase(process.argv[1], { timeout: 10000 });
  database.pragma('journal_mode = WAL');
  database.pragma('synchronous = OFF');
  const time = (n) => new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString().replace('.000Z', 'Z');
  const last = (sql) => database.prepare(sql);
  const steps = [
    last('UPDATE groups SET member_count = $n, name = $text, measured_at = $time, measurements = $n'),
    last('INSERT INTO group_member_readings VALUES (7, $time, $n)'),
    last('INSERT INTO group_names VALUES (7, $n, $text, NULL, $time, $time)'),
    last('UPDATE users SET username = $text, measured_at = $time'),
    last('INSERT INTO usernames VALUES (7, $n, $text, NULL, $time, $time)'),
    last('UPDATE games SET visits = $n, measured_at = $time'),
    last('UPDATE items SET favourites = $n, measured_at = $time'),
  ];
  const write = database.transaction((n) => {
    const values = { n, text: String(n), time: time(n) };
    for (const step of steps) {
      const names = [...new Set([...step.source.matchAll(/\\$(\\w+)/g)].map((match) => match[1]))];
      step.run(Object.fromEntries(names.map((name) => [name, values[name]])));
    }
  });
  let n = 0;
  let ended = false;
  process.stdin.on('end', () => (ended = true)).resume();
  const turn = () => {
    if (ended) return database.close();
    for (let i = 0; i < 5; i += 1) write((n += 1));
    if (n === 50) process.stdout.write('writing');
    setTimeout(turn, 2);
  };
  turn();
`;

export interface Writer {
  /** Lets the writer end, and waits until it has. */
  stop(): Promise<void>;
}

/** Starts a writer on a register with group, user, game and item 7; resolves when it has written a while. */
export function startWriter(register: string): Promise<Writer> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', SOURCE, register], {
    cwd: PROJECT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const closed = new Promise<void>((resolve, reject) => {
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`the writer ended with ${code}`)),
    );
  });
  const stop = (): Promise<void> => {
    child.stdin.end();
    return closed;
  };
  return new Promise((resolve, reject) => {
    closed.catch(reject);
    child.stdout.once('data', () => resolve({ stop }));
  });
}
