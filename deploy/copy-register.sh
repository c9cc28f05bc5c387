#!/bin/sh
# copy-register.sh DATABASE VIEWS REGISTER: makes REGISTER a copy of your database with the views of
# an SQL file, for a database that has to stay as it is. Start it before each build, from a timer,
# cron, or by hand. DATABASE is only read, and other programs may write to it meanwhile.
#
# Two things are not in DATABASE, and are carried over from the copy before: the table withheld, and
# tables whose names begin with ids_, which keep the ids of what has none. So REGISTER is worth a
# backup. If a step fails, it stays as it was. 75 says that another copy is being made.
#
# The copy before becomes REGISTER.DAY, the last of the day on which it was made; three of them are
# kept, to go back to (docs/takedowns.md#going-back).
#
# Needs sqlite3 3.27 or later.
# Change: nothing here.
# Install: with cron, as the user register, before publish.sh (see docs/operating.md).
set -eu

if [ $# -ne 3 ]; then
  echo 'usage: copy-register.sh DATABASE VIEWS REGISTER' >&2
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

# What only the copy before has, as statements that add it to the next one.
attach="ATTACH $(text "$register") AS before"
carried=
if [ ! -e "$register" ]; then
  echo "copy-register: there was no $register: nothing is withheld, and ids_ tables begin empty" >&2
else
  carried=$(run "$database" "$attach" "SELECT sql || ';' ||
      printf('INSERT INTO main.\"%w\" SELECT * FROM before.\"%w\";', name, name)
    FROM before.sqlite_schema
    WHERE type = 'table' AND (name = 'withheld' OR name LIKE 'ids\_%' ESCAPE '\')
      AND name NOT IN (SELECT name FROM main.sqlite_schema)")
fi

run "$database" '.timeout 60000' "VACUUM INTO $(text "$next")"
[ -z "$carried" ] || run "$next" "$attach" "BEGIN; $carried COMMIT"
run "$next" < "$views"
run "$next" 'PRAGMA user_version = 1; PRAGMA journal_mode = DELETE' > /dev/null
# Somebody may have withheld another record by now.
case $carried in
  *before.'"withheld"'*)
    run "$next" "$attach" "BEGIN; DELETE FROM main.withheld;
      INSERT INTO main.withheld SELECT * FROM before.withheld; COMMIT"
    ;;
esac
sync "$next"
if [ -e "$register" ]; then
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
