#!/bin/sh
# Publishes the register: checks, builds, uploads, purges. A timer starts it, cron, or you. Its
# arguments are passed to the build, for example --accept-removals.
#
# If a step fails, those after it don't happen, and the run ends with the exit code of the step:
#   check   nothing is built, the published tree stays as it was
#   build   nothing is uploaded or purged, the published tree stays as it was
#   upload  nothing is purged; the next run compares all that is there
#   purge   its URLs are kept, and purged by the next run along with its own
# 75 says that another run is at work.
#
# Change: nothing here; the settings are in the environment, see register-api.env.
# Install: register-publish.service, or with cron, as the user register:
#   */15 * * * * set -a; . /etc/register-api.env; exec /srv/register-api/deploy/publish.sh
set -eu
PATH=$PATH:/usr/local/bin:/usr/bin:/bin
deploy=$(cd "$(dirname "$0")" && pwd)

register=${REGISTER:-/srv/register/register.sqlite}
operator=${OPERATOR:-/srv/register/operator.json}
out=${OUT:-/srv/register/dist}

# Next to the tree, as its state: what is still to be purged, and when the downloads were written.
work=$(dirname "$out")/.$(basename "$out")-publish
mkdir -p -m 700 "$work"
exec 9> "$work/lock"
if ! flock -n 9; then
  echo 'publish: another run is at work' >&2
  exit 75
fi

step() { # NAME COMMAND...
  step=$1
  shift
  "$@" 9>&- || {
    code=$?
    echo "publish: $step ended with exit code $code" >&2
    exit "$code"
  }
}

snapshot() { node "$deploy/../build/generator/cli.js" "$@"; }

# Adds the list of the last build to the URLs that are still to be purged. A list is whole, or not
# there; if the power fails in between, the next run adds it again.
keep_urls() {
  [ -e "$work/built" ] || return 0
  touch "$work/urls"
  sort -u "$work/built" "$work/urls" > "$work/urls.partial"
  sync "$work/urls.partial"
  mv "$work/urls.partial" "$work/urls"
  rm "$work/built"
}

# A register whose invalid records are to be left out would never pass.
case " $* " in
  *' --skip-invalid '*) ;;
  *) step check snapshot check --quiet --register "$register" --operator "$operator" ;;
esac

keep_urls
[ -z "${CDN:-}" ] || set -- --purge-list "$work/built" "$@"
# Downloads are written once a day, and again if that failed.
day=$(date -u -d "${DOWNLOADS_AT:-02} hours ago" +%F)
[ "$day" != "$(cat "$work/downloads" 2> /dev/null)" ] || set -- --keep-downloads "$@"
# The lists of a build are enough where the run before has uploaded: those before are not in them.
uploaded=$(cat "$work/uploaded" 2> /dev/null || :)
rm -f "$work/uploaded"
[ -z "${UPLOAD_TO:-}" ] || set -- --files-from "$work/put" --delete-from "$work/gone" "$@"
step build snapshot build --quiet --wait --register "$register" --operator "$operator" \
  --out "$out" "$@"
echo "$day" > "$work/downloads"
keep_urls

if [ -n "${UPLOAD_TO:-}" ]; then
  set -- "$work/put" "$work/gone"
  [ "$uploaded" = "$UPLOAD_TO" ] || set --
  step upload "$deploy/upload.sh" "$out" "$UPLOAD_TO" "$@"
  echo "$UPLOAD_TO" > "$work/uploaded"
  rm "$work/put" "$work/gone"
fi

if [ -n "${CDN:-}" ] && [ -e "$work/urls" ]; then
  step purge "$deploy/purge.sh" "$work/urls" "$out/snapshot.json"
  rm "$work/urls"
fi
