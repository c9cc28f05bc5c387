#!/usr/bin/env python3
"""Keeps a copy of a register's database current: follow.py https://register.example register.sqlite

The first run takes the download, later ones the bundles of changes since. The table "copied" says
which snapshot the copy has. Needs Python 3.8 with SQLite 3.37, and no package.
"""
import gzip, hashlib, json, os, re, shutil, sqlite3, sys, tempfile, urllib.request

def fetch(path, sha256=None):
    """The content of a path as a file, if it has the hash."""
    file, digest = tempfile.TemporaryFile(), hashlib.sha256()
    with urllib.request.urlopen(base + path) as response:
        while chunk := response.read(1 << 20): digest.update(chunk), file.write(chunk)
    if sha256 not in (None, digest.hexdigest()): sys.exit(f'{path} has another hash: try again')
    file.seek(0)
    return file

def steps(sequence, digest, **_):
    """The changes that lead from a snapshot to the published one; None if a bundle is gone."""
    if sequence == index['sequence']: return []
    step = next((each for each in index['changes'] if each['bundle']
                 and (each['from'], each['from_digest']) == (sequence, digest)), None)
    rest = step and steps(**step)
    return None if rest is None else [step, *rest]

def value(document, place):
    for name in place.split('.'): document = document and document[name]
    return document

def apply(path='', body='null', **_):
    """Replaces the rows of a document: one of a record, or one for each entry of a history."""
    for table, (pattern, key, places) in tables.items():
        if not (match := re.fullmatch(pattern, path)): continue
        database.execute(f'DELETE FROM {table} WHERE {key} = ?', match.groups())
        document, (history, *inside) = json.loads(body), places[-1].split('[].')
        for entry in document and (document[history] if inside else [document]) or []:
            row = [value(entry if '[].' in at else document, at.split('[].')[-1]) for at in places]
            database.execute(f'INSERT INTO {table} VALUES ({", ".join("?" * len(row))})', row)

def reach(sequence, digest, **_):
    """Commits, with the snapshot that the copy has from now on."""
    database.execute('CREATE TABLE IF NOT EXISTS copied (tree, sequence, digest, tables)')
    database.execute('DELETE FROM copied')
    place = (index['tree'], sequence, digest, mapping)
    database.execute('INSERT INTO copied VALUES (?, ?, ?, ?)', place)
    database.commit()

base, copy = sys.argv[1].rstrip('/'), sys.argv[2]
index, database = json.load(fetch('/changes/index.json')), sqlite3.connect(copy)
is_ours = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'copied'").fetchone()
held = is_ours and database.execute('SELECT * FROM copied').fetchone()
# Nothing is new, or a cache has an earlier index.
if held and held[0] == index['tree'] and held[1] >= index['sequence']: sys.exit()
# With a query, no cache answers with what is older than the index. What is newer does no harm.
query = f'?{index["sequence"]}'
resources = json.load(fetch('/downloads/datapackage.json' + query))['resources']
tables = {each['title']: (each['document'].replace('{id}', r'(\d+)'),
                          each['schema']['primaryKey'][0],
                          [field['json'] for field in each['schema']['fields']])
          for each in resources if each['path'].endswith('.csv')}
mapping = json.dumps(tables)
todo = steps(*held[1:3]) if held and (held[0], held[3]) == (index['tree'], mapping) else None
if todo is None:
    start, todo = index['downloads'], steps(**index['downloads'])
    if todo is None: sys.exit(f'nothing leads on from the download of {start["sequence"]} yet')
    if held: print(f'nothing leads on from snapshot {held[1]}: beginning again with the download')
    [sha256] = [each['hash'][7:] for each in resources if each['path'] == 'register.sqlite.gz']
    packed = fetch('/downloads/register.sqlite.gz' + query, sha256)
    database.close()
    with open(copy + '.new', 'wb') as new: shutil.copyfileobj(gzip.open(packed), new)
    os.replace(copy + '.new', copy)
    database = sqlite3.connect(copy)
    reach(**start)
# What is withheld leaves no trace in the file.
database.execute('PRAGMA secure_delete = ON')
for step in todo:
    for line in gzip.open(fetch(step['bundle']['file'], step['bundle']['sha256'])):
        apply(**json.loads(line))
    database.execute('UPDATE about SET as_of = ?', (step['as_of'],))
    reach(**step)
