#!/bin/sh
# upload.sh TREE REMOTE [FILES-FROM DELETE-FROM]: sends a tree to a bucket or a folder, with rclone.
#
# With the lists of a build (--files-from, --delete-from), it sends and deletes the files in them.
# Without, it compares everything, sends what differs, and deletes what the tree doesn't have, but
# for what `edge headers` writes: that is for the first time, and after a run that failed. REMOTE is
# of the configuration of rclone, such as storage:bucket/prefix, or a folder, and for the tree alone.
#
# Files have Content-Type and Cache-Control of their route, where the remote keeps headers. Compressed
# siblings stay here: no bucket chooses between forms. snapshot.json is the last file that is sent,
# and nothing is deleted before that. Where headers have changed, but files have not, send all:
#   cd TREE && find . -type f | cut -c 3- > /tmp/all && upload.sh . REMOTE /tmp/all /dev/null
set -eu
if [ $# -ne 2 ] && [ $# -ne 4 ]; then
  echo 'usage: upload.sh TREE REMOTE [FILES-FROM DELETE-FROM]' >&2
  exit 2
fi
tree=$1 remote=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if [ $# = 4 ]; then
  cat "$3" > "$work/put"
  cat "$4" > "$work/gone"
else
  # It fails if files differ, but also if it can't read some: its list is then not of all.
  : > "$work/all"
  rclone check --fast-list --combined "$work/all" "$tree" "$remote" 2> "$work/said" || :
  [ "$(grep -c '^[=*+] ' "$work/all")" = "$(find "$tree" -type f | wc -l)" ] || {
    tail -n 5 "$work/said" >&2
    echo "upload: $remote could not be compared with $tree" >&2
    exit 3
  }
  sed -n 's/^[*+] //p' "$work/all" > "$work/put"
  sed -n 's/^- //p' "$work/all" | grep -vxE '_headers|_redirects|api/404\.html' > "$work/gone" || :
fi

# Content-Type, Cache-Control and a pattern of files; assets come before the pages with them.
jq -r '.headers.content as $of | .routes | group_by([.class != "asset", .class, .type])[] | [
    .[0].type, $of[.[0].class]["Cache-Control"],
    "^(" + (map(.file | gsub("[.]"; "[.]") | gsub("[{]\\w+[}]"; "[^/]+")) | join("|")) + ")$"
  ] | join("\t")' "$tree/snapshot.json" > "$work/groups"

send() { # LIST: files of the tree
  while IFS="$(printf '\t')" read -r type cache files; do
    grep -E "$files" "$1" > "$work/some" || continue
    rclone copy --no-check-dest --no-traverse --files-from-raw "$work/some" \
      --header-upload "Content-Type: $type" --header-upload "Cache-Control: $cache" \
      "$tree" "$remote" < /dev/null
  done < "$work/groups"
}

last='^(changes/index|snapshot)[.]json$'
grep -vE "$last" "$work/put" > "$work/most" || :
send "$work/most"
# What leads to other files.
for each in $(grep -E "$last" "$work/put" | sort -u); do
  echo "$each" > "$work/one"
  send "$work/one"
done
[ ! -s "$work/gone" ] || rclone delete --no-traverse --files-from-raw "$work/gone" "$remote"
