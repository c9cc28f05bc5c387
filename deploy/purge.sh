#!/bin/sh
# purge.sh URLS SNAPSHOT: purges a CDN of the URLs in a list of `build --purge-list`, once the
# origin serves the snapshot of SNAPSHOT (dist/snapshot.json). Up to 150 URLs are purged as URLs. If
# there are more, those whose route has a tag are purged by their tags, provided that the origin
# sends them as Cache-Tag (Fastly: Surrogate-Key), as the proxy does; from a bucket, which doesn't,
# all are purged as URLs. Purging twice does no harm, so after a failure start it again.
#
# Needs curl and jq. deploy/publish.sh starts it.
# Change: nothing here; the settings are in the environment, see register-api.env.
set -eu

if [ $# -ne 2 ]; then
  echo 'usage: purge.sh URLS SNAPSHOT' >&2
  exit 2
fi
# The header in which the CDN reads the tags of a response.
case ${CDN:-} in
  cloudflare) tagged=Cache-Tag ;;
  fastly) tagged=Surrogate-Key ;;
  *)
    echo "purge: CDN is \"${CDN:-}\", expected cloudflare or fastly" >&2
    exit 2
    ;;
esac
urls=$1
snapshot=$2
origin=${ORIGIN:-http://127.0.0.1:8080}

# More URLs than this are purged by tag.
most_urls=150
# How long the origin may take to serve the snapshot, in seconds.
patience=${PURGE_PATIENCE:-300}
# How long to wait after that: other processes or machines at its address may be a moment behind.
delay=${PURGE_DELAY:-2}

# POST, or fail. The token comes by standard input, so that no list of processes shows it.
post() { # TOKEN-HEADER OPTIONS...
  header=$1
  shift
  printf '%s\n' "$header" | curl -fsS --retry 5 --max-time 60 -X POST -H @- "$@" > /dev/null
}

# Sends the lines of a file in portions, as a member of that name in a JSON object.
cloudflare() { # MEMBER FILE
  split -l 100 "$2" "$work/portion."
  for portion in "$work"/portion.*; do
    [ -e "$portion" ] || continue
    jq -Rn --arg member "$1" '{($member): [inputs]}' "$portion" > "$work/body"
    post "Authorization: Bearer $CLOUDFLARE_TOKEN" -H 'Content-Type: application/json' \
      --data-binary "@$work/body" \
      "${CLOUDFLARE_API:-https://api.cloudflare.com/client/v4}/zones/$CLOUDFLARE_ZONE/purge_cache"
    rm "$portion"
  done
}

fastly() { # URLS-OR-TAGS FILE
  api=${FASTLY_API:-https://api.fastly.com}
  [ -s "$2" ] || return 0
  if [ "$1" = tags ]; then
    jq -Rn '{surrogate_keys: [inputs]}' "$2" > "$work/body"
    post "Fastly-Key: $FASTLY_TOKEN" -H 'Content-Type: application/json' \
      --data-binary "@$work/body" "$api/service/$FASTLY_SERVICE/purge"
  else
    sed -E "s,^https?://(.*),url = \"$api/purge/\\1\"," "$2" > "$work/requests"
    post "Fastly-Key: $FASTLY_TOKEN" --fail-early --config "$work/requests"
  fi
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# An origin that has a newer snapshot already will do.
sequence=$(jq -e .sequence "$snapshot")
waited=0
serves() {
  curl -fsS --max-time 10 --dump-header "$work/headers" "$origin/snapshot.json" |
    jq -e ".sequence >= $sequence"
}
until serves > "$work/serves" 2>&1; do
  if [ "$waited" -ge "$patience" ]; then
    echo "purge: after $patience s, $origin doesn't serve snapshot $sequence:" >&2
    cat "$work/serves" >&2
    exit 1
  fi
  sleep 1
  waited=$((waited + 1))
done
sleep "$delay"

touch "$work/tags" "$work/urls"
has_tags=true
# What was cached without a tag isn't purged by it.
grep -qi "^$tagged:" "$work/headers" || has_tags=false
if [ "$(wc -l < "$urls")" -le "$most_urls" ] || [ $has_tags = false ]; then
  cat "$urls" > "$work/urls"
  # The page of a kind is at the URLs of all of its records, too, and a download at those with
  # ?snapshot=N. The list has neither.
  if [ $has_tags = true ]; then
    jq -r '.routes as $all | $all[] | select(.requires) | . as $page
      | $all[] | select(.file == $page.file and (.requires | not))
      | .path + " " + ($page.headers["Cache-Tag"] // empty)' "$snapshot" > "$work/pages"
    jq -r '.routes[] | select(.class == "download")
      | .path + " " + (.headers["Cache-Tag"] // empty)' "$snapshot" >> "$work/pages"
    awk -v tags="$work/tags" '
      FILENAME == ARGV[1] { of[$1] = $2; next }
      { sub(/^https?:\/\/[^\/]*/, "") }
      $0 in of && !seen[of[$0]]++ { print of[$0] > tags }' "$work/pages" "$urls"
  fi
else
  # A URL is one of a route if the route's path has a parameter instead of a segment, or none. What
  # belongs to no route any more has no tag, and of style sheets only those that are gone are purged.
  jq -r '.routes[] | select(.class != "asset") | .path + " " + (.headers["Cache-Tag"] // empty)' \
    "$snapshot" > "$work/routes"
  awk -v tags="$work/tags" -v rest="$work/urls" '
    function route(path, count, segments, at, each, candidate) {
      sub(/\?.*/, "", path)
      if (path in of) return path
      count = split(path, segments, "/")
      for (at = count; at > 1; at -= 1) {
        candidate = ""
        for (each = 2; each <= count; each += 1)
          candidate = candidate "/" (each == at ? "#" : segments[each])
        if (candidate in of) return candidate
      }
      return ""
    }
    FILENAME == ARGV[1] {
      gsub(/[^\/]*\{[^}]*\}[^\/]*/, "#", $1)
      of[$1] = of[$1] " " $2
      next
    }
    {
      path = $0
      sub(/^https?:\/\/[^\/]*/, "", path)
      path = route(path)
      if (path == "") print > rest
      else seen[path] = 1
    }
    END {
      for (path in seen) {
        count = split(of[path], names, " ")
        for (each = 1; each <= count; each += 1) all[names[each]] = 1
      }
      for (name in all) print name > tags
    }' "$work/routes" "$urls"
fi

case $CDN in
  cloudflare)
    cloudflare files "$work/urls"
    cloudflare tags "$work/tags"
    ;;
  fastly)
    fastly urls "$work/urls"
    fastly tags "$work/tags"
    ;;
esac
