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

code=0
if [ -n "${ALERT_MAIL_TO:-}" ]; then
  from=${ALERT_MAIL_FROM:-$ALERT_MAIL_TO}
  printf 'From: %s\r\nTo: %s\r\nSubject: %s\r\nDate: %s\r\n\r\n%s\r\n' \
    "$from" "$ALERT_MAIL_TO" "$subject" "$(date -R)" "$log" |
    curl -fsS --retry 3 --max-time 60 --mail-from "$from" --mail-rcpt "$ALERT_MAIL_TO" \
      --upload-file - "${ALERT_SMTP:-smtp://127.0.0.1}" || code=1
fi
if [ -n "${ALERT_WEBHOOK:-}" ]; then
  printf '%s\n%s' "$subject" "$log" | jq -Rs '{text: .}' |
    curl -fsS --retry 3 --max-time 60 -o /dev/null -H 'Content-Type: application/json' \
      --data-binary @- "$ALERT_WEBHOOK" || code=1
fi
exit "$code"
