#!/usr/bin/env python3
"""Keeps a copy of a register's database current: follow.py https://register.example register.sqlite

The first run takes the download, later ones the bundles of changes since. The table "copied" says
which snapshot the copy has. Tables, views, indexes and triggers that you add to the copy stay; any
other database is refused. Needs Python 3.8 with SQLite 3.37, and no package.
"""
import argparse, email.utils, gzip, hashlib, json, os, pathlib, signal, sqlite3, sys, tempfile, time
import urllib.error, urllib.request

# In seconds: without a byte from the service, for a run, in a queue (Retry-After), for a lock.
SILENCE, WHOLE, QUEUE, LOCKED = 60, 6 * 3600, 3600, 300
# In bytes: of a description, and of a line of a bundle.
DESCRIPTION, LINE = 1 << 26, 1 << 28

def request(path):
    """The response, once the service has time for it."""
    headers = {'User-Agent': f'register-api-follow/1 ({contact})'}
    for attempt in range(5):
        try:
            return urllib.request.urlopen(urllib.request.Request(base + path, headers=headers),
                                          timeout=SILENCE)
        except urllib.error.HTTPError as error:
            wait, after = 2 ** attempt, error.headers['Retry-After'] or ''
            if after.isdecimal(): wait = int(after)
            elif date := email.utils.parsedate_tz(after):
                wait = email.utils.mktime_tz(date) - time.time()
            if attempt == 4 or error.code not in (429, 502, 503, 504) or wait > QUEUE: raise
            time.sleep(max(0, wait))

def read(path, most=DESCRIPTION, sha256=None):
    """What is at a path, and until when caches may have it; None if it is too long or another."""
    global at
    if not path.startswith('/'): sys.exit(f'"{path}" is no path of the service')
    at = base + path
    content, digest = tempfile.TemporaryFile(dir=folder), hashlib.sha256()
    with request(path) as response:
        ages = dict(part.strip().partition('=')[::2]
                    for part in (response.headers['Cache-Control'] or '').split(','))
        left = int(ages.get('max-age') or 3600) - int(response.headers['Age'] or 0)
        until = time.strftime('%H:%M:%S', time.localtime(time.time() + max(0, left)))
        while content.tell() <= most and (chunk := response.read1(1 << 20)):
            digest.update(chunk), content.write(chunk)
    is_it = content.tell() <= most and sha256 in (None, digest.hexdigest())
    content.seek(0)
    return content if is_it else None, until

def described(path):
    content, _ = read(path)
    return json.load(content) if content else sys.exit(f'{at} has more than {DESCRIPTION} bytes')

def fetch(file, bytes, sha256):
    """The content with a hash, which is not taken from a cache that has another."""
    for query in '', f'?snapshot={newest}':
        content, until = read(file + query, bytes, sha256)
        if content: return content
    sys.exit(f'{file} is not that of snapshot {newest}: caches may have another until {until}')

def steps(sequence, digest, **_):
    """The changes that lead from a snapshot to the published one; None if a bundle is gone."""
    if (sequence, digest) == (index['sequence'], index['digest']): return []
    step = next((each for each in index['changes'] if each['bundle']
                 and (each['from'], each['from_digest']) == (sequence, digest)), None)
    rest = step and steps(**step)
    return None if rest is None else [step, *rest]

def files_in(downloads):
    return {each['file'].replace('/downloads/', ''): each for each in downloads['files']}

def tables_in(files):
    """For each table: the path of its documents, the column of their id, the places of all."""
    package = json.load(fetch(**files['datapackage.json']))
    return {each['title']: [each['document'], each['schema']['primaryKey'][0],
                            [field['json'] for field in each['schema']['fields']]]
            for each in package['resources'] if each['path'].endswith('.csv')}

def quoted(name): return '"' + name.replace('"', '""') + '"'

def opened():
    global at, database
    at = copy
    database = sqlite3.connect(copy, timeout=LOCKED, isolation_level=None)
    # What is withheld leaves no trace in the file.
    database.execute('PRAGMA secure_delete = ON')

def place():
    """What the copy has: tree, sequence, digest and tables; None if it is empty."""
    if not database.execute('SELECT 1 FROM sqlite_master').fetchone(): return None
    columns = [name for _, name, *_ in database.execute('PRAGMA table_info(copied)')]
    if columns != ['tree', 'sequence', 'digest', 'tables']:
        sys.exit(f'{copy} is no copy that this script has made: name another file')
    return database.execute('SELECT * FROM copied').fetchone()

def begin():
    global at
    at = copy
    database.execute('BEGIN IMMEDIATE')
    if place() != held: sys.exit(f'{copy} was changed by another run')

def reach(sequence, digest, **_):
    """Commits, with the snapshot that the copy has from now on."""
    global held
    held = (index['tree'], sequence, digest, json.dumps(tables))
    database.execute('CREATE TABLE IF NOT EXISTS copied (tree, sequence, digest, tables)')
    database.execute('DELETE FROM copied')
    database.execute('INSERT INTO copied VALUES (?, ?, ?, ?)', held)
    database.execute('COMMIT')

def start_over():
    """Replaces our tables by those of the download, in one transaction. @returns what leads on"""
    global newest, tables
    snapshot = described('/snapshot.json')
    start, newest = snapshot['downloads'], snapshot['downloads']['sequence']
    files = files_in(start)
    if snapshot['tree']['id'] != index['tree']: sys.exit('caches have two trees: try again')
    todo = [] if start['sequence'] > index['sequence'] else steps(**start)
    if todo is None: sys.exit(f'nothing leads on from the download of {start["sequence"]} yet')
    if held: print(f'nothing leads on from snapshot {held[1]}: beginning again with the download')
    tables = tables_in(files)
    packed, size = fetch(**files['register.sqlite.gz']), files['register.sqlite']['bytes']
    with tempfile.TemporaryDirectory(dir=folder, prefix='.follow-') as scratch:
        file = pathlib.Path(scratch, 'new')
        with gzip.open(packed) as source, file.open('wb') as target:
            while chunk := source.read(1 << 20):
                if target.tell() + len(chunk) > size: sys.exit(f'{at} is larger than {size} bytes')
                target.write(chunk)
        new = sqlite3.connect(file)
        [check] = new.execute('PRAGMA quick_check').fetchone()
        made = dict(new.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        new.close()
        if check != 'ok': sys.exit(f'{at} is damaged: {check}')
        if not database: opened()
        database.execute('ATTACH ? AS new', (str(file),))
        begin()
        ours = {'about', *json.loads(held[3])} if held else set()
        kept = dict(database.execute('SELECT lower(name), sql FROM main.sqlite_master'))
        for table in ours - made.keys():
            database.execute(f'DROP TABLE IF EXISTS main.{quoted(table)}')
        for table in ['about', *tables]:
            before, sql, name = kept.get(table.lower()), made[table], quoted(table)
            if before and table not in ours: sys.exit(f'{copy} has a table "{table}" of yours')
            # No other statement in the file is run.
            if not sql.startswith(f'CREATE TABLE {name} ('): sys.exit(f'{at}: unexpected {sql}')
            if before != sql:
                database.execute(f'DROP TABLE IF EXISTS main.{name}')
                database.execute(sql)
            database.execute(f'DELETE FROM main.{name}')
            database.execute(f'INSERT INTO main.{name} SELECT * FROM new.{name}')
        reach(**start)
        database.execute('DETACH new')
    return todo

def value(document, place):
    for name in place.split('.'): document = document and document[name]
    return document

def apply(path='', body='null', **_):
    """Replaces the rows of a document: one of a record, or one for each entry of a history."""
    for table, (template, key, places) in tables.items():
        before, after = template.split('{id}')
        id = path[len(before):len(path) - len(after)]
        if path != before + id + after or not id.isdecimal(): continue
        database.execute(f'DELETE FROM {quoted(table)} WHERE {quoted(key)} = ?', (id,))
        document, (history, *inside) = json.loads(body), places[-1].split('[].')
        for entry in document and (document[history] if inside else [document]) or []:
            row = [value(entry if '[].' in at else document, at.split('[].')[-1]) for at in places]
            values = ', '.join('?' * len(row))
            database.execute(f'INSERT INTO {quoted(table)} VALUES ({values})', row)

def main():
    global index, newest, held, tables
    if os.path.exists(copy): opened()
    held = place() if database else None
    index = described('/changes/index.json')
    # Nothing is new, or a cache has an earlier index.
    current = index['sequence'], index['digest']
    if held and held[0] == index['tree'] and (held[1] > current[0] or held[1:3] == current): return
    newest, todo = index.get('downloads', index)['sequence'], None
    if held and held[0] == index['tree']:
        downloads = described(f'/snapshot.json?snapshot={newest}')['downloads']
        # A commit puts it last, after the index.
        if downloads['sequence'] != newest: return
        tables = tables_in(files_in(downloads))
        if held[3] == json.dumps(tables): todo = steps(*held[1:3])
    for step in start_over() if todo is None else todo:
        bundle = gzip.open(fetch(**step['bundle']))
        begin()
        while line := bundle.readline(LINE):
            if len(line) == LINE: sys.exit(f'{at} has a line of {LINE} bytes')
            apply(**json.loads(line))
        database.execute('UPDATE about SET as_of = ?, sequence = ?, digest = ?',
                         (step['as_of'], step['sequence'], step['digest']))
        reach(**step)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument('url', help='of the service')
parser.add_argument('copy', help='the file with the database')
parser.add_argument('--contact', default='clients/python/follow.py', metavar='ADDRESS',
                    help='yours, which the service sees in the User-Agent')
given = parser.parse_args()
base, copy, contact = given.url.rstrip('/'), given.copy, given.contact
folder, is_new = os.path.dirname(os.path.abspath(copy)), not os.path.exists(copy)
# What a sentence is about, and the copy, once it is open.
at, database = copy, None
signal.signal(signal.SIGTERM, lambda *_: sys.exit('ended by a signal'))
if hasattr(signal, 'alarm'):
    signal.signal(signal.SIGALRM, lambda *_: sys.exit(f'{at}: given up after {WHOLE} seconds'))
    signal.alarm(WHOLE)
try: main()
except (OSError, ValueError, sqlite3.Error) as error: sys.exit(f'{at}: {error}')
except KeyboardInterrupt: sys.exit(130)
except Exception as error: sys.exit(f'{at} is not as expected: {error!r}')
finally:
    if database: database.close()
    # Of a first run that failed.
    if is_new and os.path.exists(copy) and os.path.getsize(copy) == 0: os.remove(copy)
