"""The documents for finding records, from a register alone: path, tab, body on each line.

Written from the documentation, with no code of the generator's.
"""
import hashlib
import json
import sqlite3
import sys
import unicodedata

register = sqlite3.connect(f'file:{sys.argv[1]}?mode=ro', uri=True)
rows = lambda sql: register.execute(sql).fetchall()
withheld = set(rows('SELECT kind, id FROM withheld'))
tables = {'group': 'groups', 'user': 'users', 'game': 'games', 'item': 'items'}
histories = {'user': ('username', 'usernames', 'user_id'), 'group': ('name', 'group_names', 'group_id')}
called = {'user': 'username', 'group': 'group', 'game': 'game', 'item': 'item'}


def put(path, body):
    print(f'{path}\t{json.dumps(body, ensure_ascii=False, separators=(",", ":"))}')


def fold(name):
    lower = unicodedata.normalize('NFKC', name).lower().upper().lower()
    return unicodedata.normalize('NFKC', lower.replace('ς', 'σ').replace('i\u0307', 'i'))


def digits(entries):
    """The least number with which a shard has 512 entries at most, on average."""
    return next(n for n in range(1, 17) if entries / 16**n <= 512)


def published(kind, columns='id'):
    found = rows(f'SELECT {columns} FROM {tables[kind]} ORDER BY id')
    return [row for row in found if (kind, row[0]) not in withheld]


def deleted(kind):
    return {record for (record,) in rows(f"SELECT id FROM {tables[kind]} WHERE state = 'deleted'")}


def names(kind):
    """(record, name): whether it is the newest, of all names; and how many there are at most"""
    column, table, key = histories.get(kind, ('name', None, None))
    history = rows(f'SELECT {key}, position, {column} FROM {table} ORDER BY 1, 2') if table else []
    entries = [row for row in history if (kind, row[0]) not in withheld]
    newest = {record: position for record, position, name in entries}
    found = {}
    for record, position, name in entries:
        found[record, name] = found.get((record, name), False) or position == newest[record]
    for record, name in published(kind, f'id, {column}'):
        if name is not None:
            found[record, name] = True
    most = len(published(kind)) + len(entries) - len(newest)
    return found, most


def begins(key, average):
    prime = 67108859
    mixed = (key % prime * 41475557 + key // prime * 25214903) % prime
    return mixed**3 % prime % average == 0


def shards(path, count, entries, member):
    """entries: (text that is hashed, body), in the order that they have in documents"""
    by_prefix = {}
    for text, body in entries:
        prefix = hashlib.sha256(text.encode()).hexdigest()[:count]
        by_prefix.setdefault(prefix, []).append(body)
    for prefix, bodies in by_prefix.items():
        put(f'{path}/{prefix}', {'prefix': prefix, member: bodies})


kinds = {}
for kind in tables:
    pages = []
    for (key,) in published(kind):
        if not pages or begins(key, 4096):
            pages.append([])
        pages[-1].append(key)
    paths = [f'/api/v1/ids/{kind}/{page[0]}' for page in pages]
    for page, path, following in zip(pages, paths, paths[1:] + [None]):
        put(path, {
            'kind': kind, 'first_id': page[0], 'last_id': page[-1], 'count': len(page), 'ids': page, 'next': following,
        })
    kinds[kind] = {'records': sum(map(len, pages)), 'pages': len(pages), 'first': paths[0] if paths else None}
put('/api/v1/ids', {'kinds': kinds})

lookup = {'hash': 'SHA-256 over the UTF-8 of NFKC(replace(lower(upper(lower(NFKC(name)))), ς → σ, i U+0307 → i))'}
every = []
for kind, member in called.items():
    matches, most = names(kind)
    gone = deleted(kind)
    every += [
        (fold(name), kind, record, name, current) for (record, name), current in matches.items() if record not in gone
    ]
    by_name = {}
    for (record, name), current in sorted(matches.items()):
        by_name.setdefault(fold(name), []).append({'id': record, 'name': name, 'is_current': current})
    count = digits(most)
    path = f'/api/v1/lookup/{member}'
    shards(path, count, [(name, {'name': name, 'matches': by_name[name]}) for name in sorted(by_name)], 'names')
    lookup[member] = {'path': f'{path}/{{prefix}}', 'digits': count}


pages = {}
for folded, kind, record, name, current in sorted(every):
    if not pages or begins(record, 1024):
        entry = json.dumps([folded, kind, record], ensure_ascii=False, separators=(',', ':'))
        number = 2 + int(hashlib.sha256(entry.encode()).hexdigest()[:10], 16) if pages else 1
        if number not in pages:
            page = pages[number] = {'first': folded, 'names': []}
    page['names'].append({'kind': kind, 'id': record, 'name': name, 'is_current': current})
path = '/api/v1/lookup/names'
paths = [f'{path}/{number}' for number in pages]
for page, own, following in zip(pages.values(), paths, paths[1:] + [None]):
    put(own, {'first': page['first'], 'next': following, 'names': page['names']})
starts = [{'first': page['first'], 'path': f'{path}/{number}'} for number, page in pages.items()]
put(path, {'count': len(every), 'pages': starts})

owners = {'hash': 'SHA-256 over the decimal digits of the id'}
groups = published('group', "id, name, 'user', owner_id")
games = published('game', 'id, name, creator_type, creator_id')
for kind, count in ('user', len(groups) + len(games)), ('group', len(games)):
    owned = {}
    for member, records in ('groups', groups), ('games', games):
        for record, name, owner_kind, owner in records:
            if owner_kind == kind and owner is not None and (kind, owner) not in withheld:
                its = owned.setdefault(owner, {'groups': [], 'games': []} if kind == 'user' else {'games': []})
                its[member].append({'id': record, 'name': name})
    count = digits(count)
    shards(f'/api/v1/owners/{kind}', count, [(str(owner), {'id': owner, **owned[owner]}) for owner in sorted(owned)], 'owners')
    owners[kind] = {'path': f'/api/v1/owners/{kind}/{{prefix}}', 'digits': count}

platform_ids = {'hash': 'SHA-256 over the UTF-8 of the id on the platform, exactly as it is'}
for kind in tables:
    entries = sorted((text, record) for record, text in published(kind, 'id, platform_id') if text is not None)
    count = digits(len(published(kind)))
    path = f'/api/v1/lookup/platform-id/{kind}'
    shards(path, count, [(text, {'platform_id': text, 'id': record}) for text, record in entries], 'platform_ids')
    platform_ids[kind] = {'path': f'{path}/{{prefix}}', 'digits': count}
put('/api/v1/lookup', {'lookup': lookup, 'owners': owners, 'platform_ids': platform_ids})
