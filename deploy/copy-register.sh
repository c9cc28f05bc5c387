#!/bin/sh
# copy-register.sh [--first] DATABASE VIEWS REGISTER: makes REGISTER from a copy of your database and
# the views of an SQL file, for a database that has to stay as it is. Start it before each build, from
# a timer, cron, or by hand. DATABASE is only read, and other programs may write to it meanwhile.
#
# REGISTER IS NOT JUST A COPY: BACK IT UP. Two things are in it alone, and are carried over to the next
# one: tables whose names begin with ids_, which number the records that have no number of their own,
# and the table withheld. Without them ids would come to mean other records, and what was withheld
# would be published. So they begin empty only if --first says so, once: in a first run, and if the
# views have a new table ids_.
#
# If a step fails, REGISTER stays as it was. 75 says that another copy is being made. The register
# that is replaced becomes REGISTER.DAY, the last of the day on which it was made; three of them are
# kept, to go back to (docs/takedowns.md#going-back).
#
# Needs sqlite3 3.27 or later.
# Change: nothing here.
# Install: with cron, as the user register, before publish.sh (see docs/operating.md).
set -eu

first=
if [ "${1-}" = --first ]; then
  first=yes
  shift
fi
if [ $# -ne 3 ]; then
  echo 'usage: copy-register.sh [--first] DATABASE VIEWS REGISTER' >&2
  exit 2
fi
database=$1
views=$2
register=$3
next=$register.next

exec 9> "$register.lock"
if ! flock -n 9; then
  echo 'copy-register: another copy is being made' >&2
  exit 75
fi
for file in "$database" "$views"; do
  if [ ! -f "$file" ]; then
    echo "copy-register: $file is missing, expected a file" >&2
    exit 3
  fi
done
# A log of the register would be taken for one of the copy that replaces it.
if [ -e "$register-wal" ]; then
  echo "copy-register: $register is in WAL mode, expected PRAGMA journal_mode = DELETE" >&2
  exit 3
fi

trap 'rm -f "$next" "$next.kept" "$next-journal" "$next-wal" "$next-shm"' EXIT
rm -f "$next"

run() { sqlite3 -batch -bail "$@" 9>&-; }

# As a literal of SQL.
text() { printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"; }

# An empty file is an empty database for SQLite, but no register.
before=:memory:
lacking=
if [ -e "$register" ] && [ "$(run "$register" 'PRAGMA user_version')" != 0 ]; then
  before=$register
else
  lacking="$register is missing or empty"
fi
attach="ATTACH $(text "$before") AS before"

# Carries over the tables that match a pattern, if the register before has them and the database does not.
carry() {
  carried=$(run "$next" "$attach" "ATTACH $(text "$database") AS own" "SELECT
      CASE WHEN name COLLATE NOCASE IN (SELECT name FROM main.sqlite_schema)
        THEN printf('DELETE FROM main.\"%w\"', name) ELSE sql END ||
      printf('; INSERT INTO main.\"%w\" SELECT * FROM before.\"%w\";', name, name)
    FROM before.sqlite_schema
    WHERE type = 'table' AND name LIKE '$1' ESCAPE '\'
      AND name COLLATE NOCASE NOT IN (SELECT name FROM own.sqlite_schema)")
  [ -z "$carried" ] || run "$next" "$attach" "BEGIN; $carried COMMIT"
}

run "$database" '.timeout 60000' "VACUUM INTO $(text "$next")"
carry 'ids\_%'
carry withheld
run "$next" < "$views"

# The ids_ tables that began just now.
began=$(run "$next" "$attach" "ATTACH $(text "$database") AS own" "SELECT group_concat(name, ', ')
  FROM main.sqlite_schema WHERE type = 'table' AND name LIKE 'ids\_%' ESCAPE '\'
    AND name COLLATE NOCASE NOT IN (SELECT name FROM before.sqlite_schema)
    AND name COLLATE NOCASE NOT IN (SELECT name FROM own.sqlite_schema)")
[ -z "$began" ] || lacking=${lacking:-"$register has no table $began"}
if [ -n "$lacking" ] && [ -z "$first" ]; then
  echo "copy-register: $lacking, expected what the last run left, since nothing else has the ids and" \
    "what is withheld: restore it from a backup or $register.DAY, or begin with none by --first" >&2
  exit 3
fi
if [ -z "$lacking" ] && [ -n "$first" ]; then
  echo "copy-register: $register has all ids, expected no --first" >&2
  exit 2
fi

run "$next" 'PRAGMA user_version = 1; PRAGMA journal_mode = DELETE' > /dev/null
# By now, and while the rest was written to the disk, somebody may have withheld a record, perhaps the first one.
sync "$next"
carry withheld
sync "$next"
if [ "$before" = "$register" ]; then
  kept=$register.$(date -u -r "$register" +%F)
  # Unless an interrupted run has just kept it.
  if ! [ "$register" -ef "$kept" ]; then
    ln -f "$register" "$next.kept"
    mv "$next.kept" "$kept"
  fi
fi
mv "$next" "$register"
set -- "$register".[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]
while [ $# -gt 3 ]; do
  rm -f "$1"
  shift
done
