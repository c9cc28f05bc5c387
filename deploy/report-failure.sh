#!/bin/sh
# report-failure.sh UNIT: sends the end of a unit's log by mail, to a webhook, or both.
# register-failure@.service starts it. Mail goes by SMTP, since sendmail needs rights that the
# hardened unit doesn't give.
#
# Needs curl, and jq for webhooks.
# Change: nothing here; the settings are in the environment, see register-api.env.
set -eu

unit=$1
subject="$unit failed on $(uname -n)"
log=$(journalctl --unit "$unit" --lines 30 --no-pager --output short-iso 2>&1 || true)

if [ -z "${ALERT_MAIL_TO:-}${ALERT_WEBHOOK:-}" ]; then
  echo "report-failure: $subject, but neither ALERT_MAIL_TO nor ALERT_WEBHOOK is set" >&2
  exit 2
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# curl, with a URL on standard input: it has a password or is one, and lists of processes show
# arguments.
curl_to() { # URL OPTIONS...
  url=$1
  shift
  printf '%s\n' "$url" | sed 's/[\\"]/\\&/g; s/.*/url = "&"/' |
    curl -fsS --retry 3 --max-time 60 --config - "$@"
}

code=0
if [ -n "${ALERT_MAIL_TO:-}" ]; then
  from=${ALERT_MAIL_FROM:-$ALERT_MAIL_TO}
  # In base64 any log is a mail: one with other letters than ASCII, or with lines of any length.
  {
    printf '%s\n' "From: $from" "To: $ALERT_MAIL_TO" "Subject: $subject" "Date: $(date -R)" \
      'MIME-Version: 1.0' 'Content-Type: text/plain; charset=utf-8' \
      'Content-Transfer-Encoding: base64' ''
    printf '%s\n' "$log" | sed 's/$/\r/' | base64
  } | sed 's/$/\r/' > "$work/mail"
  curl_to "${ALERT_SMTP:-smtp://127.0.0.1}" --mail-from "$from" --mail-rcpt "$ALERT_MAIL_TO" \
    --upload-file "$work/mail" || code=1
fi
if [ -n "${ALERT_WEBHOOK:-}" ]; then
  printf '%s\n%s' "$subject" "$log" | jq -Rs '{text: .}' > "$work/message"
  curl_to "$ALERT_WEBHOOK" -o /dev/null -H 'Content-Type: application/json' \
    --data-binary "@$work/message" || code=1
fi
exit "$code"
