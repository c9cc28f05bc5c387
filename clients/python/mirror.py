#!/usr/bin/env python3
"""Keeps a copy of a register's files current: mirror.py https://register.example copy

The first run takes the downloads, later ones what has changed since. Each file is compared with its
SHA-256, and the copy goes from one whole snapshot to the next; the proxy or nginx can serve it. Any
other folder is refused. What is known of "copy" stands in ".copy-mirror" next to it.
Needs Python 3.8, and no package.
"""
import argparse, email.utils, functools, gzip, hashlib, json, os, re, shutil, signal, sqlite3, sys
import time, urllib.error, urllib.request

# In seconds: without a byte from the service, for a run, in a queue (Retry-After).
SILENCE, WHOLE, QUEUE = 60, 6 * 3600, 3600
# In bytes: of a file of unknown size, of a line, of all that a run reads and unpacks.
UNKNOWN, LINE, MOST = 1 << 26, 1 << 28, 1 << 38

# Paths have no "..", and nothing that begins with a dot but one folder.
PLAIN = re.compile(r'(\.well-known/)?[\w~-][\w.~-]*(/[\w~-][\w.~-]*)*', re.ASCII)
# By the type of a parameter: its texts.
TEXTS = {'id': r'0|[1-9]\d{0,15}', 'integer': r'0|[1-9]\d{0,15}', 'prefix': '[0-9a-f]{1,16}',
         'platform_id': r'[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}'}
# The place of further names of documents, until those are known: right after their own.
ALIAS = '+'
# Routes of what a snapshot says of itself, and not in the list of its documents.
OWN = 'snapshot', 'changes', 'change-bundle', 'feed-snapshots', 'feed-snapshots-json'

SCHEMA = '''
PRAGMA locking_mode = EXCLUSIVE;
PRAGMA secure_delete = ON; -- what is withheld leaves no trace
BEGIN EXCLUSIVE;
CREATE TABLE IF NOT EXISTS copied (tree, sequence, digest);
CREATE TABLE IF NOT EXISTS held (file TEXT PRIMARY KEY, sha256) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS moving (file); -- what a commit replaces and deletes
CREATE TEMP TABLE wanted (file TEXT PRIMARY KEY, sha256, place, is_there DEFAULT 0) WITHOUT ROWID;
CREATE INDEX temp.by_sum ON wanted (sha256);
COMMIT
'''

class Direct(urllib.request.HTTPRedirectHandler):
    """Follows nothing: the service names the URL of each file."""
    def redirect_request(self, *_): return None

opener = urllib.request.build_opener(Direct)

def request(path, method='GET'):
    """The response, which may be a 404, once the service has time for it."""
    global at
    at = base + path
    # To browsers alone, /404 is the page that people see in the place of others.
    headers = {'User-Agent': f'register-api-mirror/1 ({contact})', 'Accept': 'text/html'}
    for attempt in range(5):
        try:
            return opener.open(urllib.request.Request(at, headers=headers, method=method),
                               timeout=SILENCE)
        except urllib.error.HTTPError as error:
            if error.code == 404: return error
            wait, after = 2 ** attempt, error.headers['Retry-After'] or ''
            if after.isdecimal(): wait = int(after)
            elif date := email.utils.parsedate_tz(after):
                wait = email.utils.mktime_tz(date) - time.time()
            if attempt == 4 or error.code not in (429, 502, 503, 504) or wait > QUEUE: raise
            time.sleep(max(0, wait))

def take(size):
    """Counts what is read and unpacked."""
    global taken
    taken += size
    if taken > MOST: sys.exit(f'{at}: given up after {MOST} bytes')

def chunks(source, digest, most):
    """What is left of a file, hashed on the way, and at most one chunk more than it may have."""
    while most >= 0 and (chunk := source.read1(1 << 20)):
        most -= len(chunk)
        digest.update(chunk)
        yield chunk

def fetch(file):
    """Stages a file that is wanted, and no other that a cache has. @returns where it is"""
    path, url, sha256 = staged(file), located(file)[1], sum_in('wanted', file)
    if not url or not sha256: sys.exit(f'"{file}" is no file of snapshot {sequence}')
    if sum_in('held', file) == sha256: return os.path.join(copy, file)
    if os.path.isfile(path):
        with open(path, 'rb') as source:
            for _ in chunks(source, digest := hashlib.sha256(), MOST): pass
        if digest.hexdigest() == sha256: return path
    for query in '', ('&' if '?' in url else '?') + f'snapshot={sequence}':
        with request(url + query) as response, open(path, 'wb') as target:
            for chunk in chunks(response, digest := hashlib.sha256(), sizes.get(file, UNKNOWN)):
                take(len(chunk)), target.write(chunk)
            ages = dict(part.strip().partition('=')[::2]
                        for part in (response.headers['Cache-Control'] or '').split(','))
            left = int(ages.get('max-age') or 3600) - int(response.headers['Age'] or 0)
        if digest.hexdigest() == sha256: return path
    until = time.strftime('%H:%M:%S', time.localtime(time.time() + max(0, left)))
    sys.exit(f'{at} is not that of snapshot {sequence}: caches may have another until {until}')

def link(file, name):
    """Gives a file another name, or copies it where the file system has no links."""
    if os.path.lexists(name): os.remove(name)
    try: os.link(file, name)
    except OSError: shutil.copy2(file, name)

def staged(file):
    """Where a file is until all of its snapshot is there."""
    path = os.path.join(stage, file)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path

def lines(file):
    global at
    path, at = fetch(file), f'{base}/{file}'
    with gzip.open(path) as source:
        while line := source.readline(LINE):
            if len(line) == LINE: sys.exit(f'{at} has a line of {LINE} bytes')
            take(len(line))
            yield line

def understand(routes):
    """Reads which files there are, their URLs, and the order of the documents in their list."""
    global single, many, pattern, former
    single, many, alternatives, assets = {}, [], [], []
    for number, route in enumerate(routes):
        name, path, file = route['name'], route['path'], route['file']
        if not path.startswith('/') or not PLAIN.fullmatch(re.sub(r'\{\w+\}', '0', file)):
            sys.exit(f'{at} leads from "{path}" to "{file}", which are no plain paths')
        is_document = name not in OWN and not f'{path}/'.startswith('/downloads/')
        place = f'{number:04}' if is_document else None
        parameters, pieces = route.get('parameters') or [], re.split(r'\{\w+\}', file)
        if not parameters and 'absent' not in route: single.setdefault(file, (place, path))
        if len(parameters) != 1 or len(pieces) != 2 or 'requires' in route: continue
        [parameter], [before, after] = parameters, map(re.escape, pieces)
        if name.startswith('former-'):
            assets.append(f'{before}[a-z][a-z0-9-]*-[0-9a-f]{{10}}{after}')
        elif text := TEXTS.get(parameter['type']):
            if parameter['in'] == 'query': path += f'?{parameter["name"]}={{}}'
            url = re.sub(r'\{\w*\}', '{}', path)
            many.append((name, ALIAS if 'aliases' in route else place, pieces, url, parameter['type']))
            alternatives.append(f'{before}({text}){after}')
    pattern, former = re.compile('|'.join(alternatives)), re.compile('|'.join(assets))

def located(file):
    """The place of a document in the list, if it is one, and the URL of a file."""
    match = file not in single and pattern.fullmatch(file)
    if not match: return single.get(file, (None, None))
    _, place, _, url, type = many[match.lastindex - 1]
    value = match[match.lastindex]
    if place and place != ALIAS:
        # A prefix is a number after a digit 1, so that shorter ones come first.
        place += f'{int("1" + value, 16) if type == "prefix" else int(value):020}'
    return place, url.replace('{}', value)

def one(sql, *values): return database.execute(sql, values).fetchone()

def sum_in(table, file):
    return (one(f'SELECT sha256 FROM {table} WHERE file = ?', file) or [None])[0]

def want(file, sha256):
    """Notes a document; what no route leads to is not in the list."""
    if place := located(file)[0]:
        database.execute('REPLACE INTO wanted VALUES (?, ?, ?, 0)', (file, sha256, place))

def fill(file, body):
    """Stages the body of a document that is missing, unless it is that of another snapshot."""
    row = one('SELECT sha256 FROM wanted WHERE file = ? AND NOT is_there', file)
    if row and hashlib.sha256(body).hexdigest() == row[0]:
        with open(staged(file), 'wb') as target: target.write(body)
        database.execute('UPDATE wanted SET is_there = 1 WHERE file = ?', (file,))

def fill_all(file):
    for document in map(json.loads, lines(file)):
        if 'body' in document: fill(document['file'], document['body'].encode())

def steps(index, sequence, digest):
    """The bundles that lead from a snapshot to the published one; None if one is gone."""
    if (sequence, digest) == (index['sequence'], index['digest']): return []
    step = next((each for each in index['changes'] if each['bundle']
                 and (each['from'], each['from_digest']) == (sequence, digest)), None)
    rest = step and steps(index, step['sequence'], step['digest'])
    return None if rest is None else [step['bundle']['file'][1:], *rest]

def plan(snapshot, was):
    """Notes all documents of a snapshot. @returns the bundles with what has changed"""
    with open(fetch('changes/index.json'), 'rb') as source: index = json.load(source)
    start = snapshot['downloads']
    bundles = steps(index, *was[1:]) if was and was[0] == index['tree'] else None
    if bundles is not None:
        database.execute('REPLACE INTO wanted SELECT file, sha256, place(file), 0 FROM held'
                         ' WHERE place(file) IS NOT NULL')
    else:
        bundles = steps(index, start['sequence'], start['digest'])
        if bundles is None: sys.exit(f'nothing leads on from the download of {start["sequence"]} yet')
        if was: print(f'nothing leads on from snapshot {was[1]}: beginning again with the download')
        for line in lines('downloads/documents.sha256.gz'):
            sha256, _, file = line.decode().rstrip('\n').partition('  ')
            want(file, sha256)
    for change in (json.loads(line) for bundle in bundles for line in lines(bundle)):
        if 'sha256' in change: want(change['file'], change['sha256'])
        elif 'file' in change:
            database.execute('DELETE FROM wanted WHERE file = ?', (change['file'],))
    database.execute("UPDATE wanted SET place = (SELECT max(place) || '+' FROM wanted AS document"
                     " WHERE document.sha256 = wanted.sha256) WHERE place = ?", (ALIAS,))
    digest = hashlib.sha256()
    for sha256, file in database.execute('SELECT sha256, file FROM wanted'
                                         ' WHERE place IS NOT NULL ORDER BY place'):
        digest.update(f'{sha256}  {file}\n'.encode())
    if digest.hexdigest() != snapshot['digest']:
        sys.exit(f'{base}: the documents are not those of snapshot {sequence}')
    return bundles

def gather(bundles):
    """Stages all that is wanted and that the copy lacks."""
    database.execute('UPDATE wanted SET is_there = 1 WHERE sha256 ='
                     ' (SELECT sha256 FROM held WHERE held.file = wanted.file)')
    def missing(place=''):
        return database.execute('SELECT file FROM wanted WHERE NOT is_there'
                                " AND ifnull(place, '') BETWEEN ? AND ? || '~'"
                                " AND ifnull(place, '') NOT LIKE '%+'", (place, place))
    for bundle in bundles: fill_all(bundle)
    for name, place, pieces, *_ in many:
        file = f'downloads/documents/{name}.ndjson.gz'
        if file in sizes and missing(place).fetchone():
            for line in lines(file): fill(str(json.loads(line)['id']).join(pieces), line[:-1])
    fill_all('downloads/documents/other.ndjson.gz')
    for file, in missing().fetchall(): fetch(file)
    for file, document in database.execute(
            'SELECT wanted.file, document.file FROM wanted JOIN wanted AS document'
            " ON wanted.place = document.place || '+' AND wanted.sha256 = document.sha256"
            ' WHERE NOT wanted.is_there').fetchall():
        link(fetch(document), staged(file))
    # What pages in caches still load, as long as the service has it.
    for file in [file for file, in database.execute('SELECT file FROM held')
                 if former.fullmatch(file) and not sum_in('wanted', file)]:
        if request(f'/{file}', 'HEAD').getcode() == 200:
            database.execute('INSERT INTO wanted SELECT *, NULL, 1 FROM held WHERE file = ?', (file,))

@functools.lru_cache(1 << 12)
def require_no_links(folder):
    if folder == copy: return
    require_no_links(os.path.dirname(folder))
    if os.path.islink(folder): sys.exit(f'{folder} is a link, and not of this script')

def move():
    """Completes a commit, also that of a run which was ended: snapshot.json comes last."""
    if not one('SELECT 1 FROM moving'): return
    for file, sha256 in database.execute(
            'SELECT file, sha256 FROM moving LEFT JOIN held USING (file)'
            " ORDER BY file = 'snapshot.json', sha256 IS NOT NULL"):
        path, new = os.path.join(copy, file), os.path.join(stage, file)
        folder = os.path.dirname(path)
        require_no_links(folder)
        if sha256 and os.path.exists(new):
            os.makedirs(folder, exist_ok=True)
            os.replace(new, path)
        elif not sha256 and os.path.lexists(path):
            os.remove(path)
            while folder != copy and not os.listdir(folder):
                os.rmdir(folder)
                folder = os.path.dirname(folder)
    if hasattr(os, 'sync'): os.sync()
    database.execute('DELETE FROM moving')
    shutil.rmtree(stage)

def commit(position, everything):
    """The point of no return: from here on, the copy is what is wanted."""
    if hasattr(os, 'sync'): os.sync()
    database.execute('BEGIN')
    database.execute('INSERT INTO moving SELECT file FROM wanted LEFT JOIN held USING (file)'
                     ' WHERE held.sha256 IS NOT wanted.sha256')
    if everything:
        database.execute('INSERT INTO moving SELECT file FROM held'
                         ' WHERE file NOT IN (SELECT file FROM wanted)')
    database.execute('DELETE FROM held WHERE file IN moving')
    database.execute('INSERT INTO held SELECT file, sha256 FROM wanted WHERE file IN moving')
    database.execute('DELETE FROM copied')
    database.execute('INSERT INTO copied VALUES (?, ?, ?)', position)
    database.execute('COMMIT')
    move()

def opened():
    global database
    file = os.path.join(state, 'state.sqlite')
    is_empty = not os.path.lexists(copy) or not os.listdir(copy)
    foreign = f'{copy} is no copy that this script has made: name another folder'
    if not is_empty and not os.path.exists(file): sys.exit(foreign)
    if os.path.islink(state): sys.exit(f'{state} is a link, and not of this script')
    os.makedirs(state, 0o700, exist_ok=True)
    if os.path.isdir(copy) and os.stat(copy).st_dev != os.stat(state).st_dev:
        sys.exit(f'{copy} is a file system of its own: name a folder in it')
    database = sqlite3.connect(file, timeout=0, isolation_level=None)
    try: database.executescript(SCHEMA)
    except sqlite3.OperationalError as error: sys.exit(f'{file}: {error}: is another run at work?')
    database.create_function('place', 1, lambda file: located(file)[0])
    if not is_empty and not one('SELECT 1 FROM held'): sys.exit(foreign)
    move()
    if not os.path.isfile(os.path.join(copy, 'snapshot.json')):
        database.executescript('DELETE FROM held; DELETE FROM copied')

def main():
    global sequence, sizes
    opened()
    was = one('SELECT * FROM copied')
    with request(f'/snapshot.json?snapshot={int(time.time())}') as response:
        if response.getcode() == 404: raise response
        content = response.read(UNKNOWN)
    snapshot, sha256 = json.loads(content), hashlib.sha256(content).hexdigest()
    if snapshot['format'] != 5: sys.exit(f'{at} has another format than 5: take a newer script')
    sequence = snapshot['sequence']
    position = snapshot['tree']['id'], sequence, snapshot['digest']
    # Nothing is new, or a cache has an earlier snapshot.
    if was and was[0] == position[0] and was[1] > sequence: return
    if was == position and sum_in('held', 'snapshot.json') == sha256: return
    if was != position:
        understand(snapshot['routes'])
        files = [(each['file'][1:], each['sha256'], each['bytes'])
                 for each in snapshot['downloads']['files'] + snapshot['files']]
        sizes = {file: bytes for file, _, bytes in files}
        for file, of, _ in files:
            if not located(file)[1]: sys.exit(f'{at} names "{file}", to which no route leads')
            database.execute('INSERT INTO wanted VALUES (?, ?, NULL, 0)', (file, of))
        gather(plan(snapshot, was))
    with open(staged('snapshot.json'), 'wb') as target: target.write(content)
    database.execute("REPLACE INTO wanted VALUES ('snapshot.json', ?, NULL, 1)", (sha256,))
    commit(position, everything=was != position)

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
parser.add_argument('url', help='of the service')
parser.add_argument('copy', help='the folder')
parser.add_argument('--contact', default='clients/python/mirror.py', metavar='ADDRESS',
                    help='yours, which the service sees in the User-Agent')
given = parser.parse_args()
base, copy, contact = given.url.rstrip('/'), os.path.realpath(given.copy), given.contact
state = os.path.join(os.path.dirname(copy), f'.{os.path.basename(copy)}-mirror')
stage = os.path.join(state, 'stage')
# What a sentence is about, the bytes that were taken, and what is known of the copy.
at, taken, database = copy, 0, None
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
