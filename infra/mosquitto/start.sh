#!/bin/sh
# Runs in the container of Mosquitto: writes the files that the broker reads, then runs it. Kubernetes renews secrets and certificates
# in place. A background loop detects a change and makes the broker reload them.
set -eu

secrets=${SECRETS:-/run/secrets/millrace}
[ -d "$secrets" ] || secrets=/run/secrets
configuration=${CONFIGURATION:-/opt/millrace}
certificate=${TLS_CERTIFICATE:-/etc/millrace/tls/tls.crt}
key=${TLS_KEY:-/etc/millrace/tls/tls.key}
run=${RUN_DIRECTORY:-/tmp/mosquitto}
every=${LOOK_EVERY_SECONDS:-30}
broker=$$

umask 077
mkdir -p "$run"

log() { echo "start.sh: $*" >&2; }

# write_files: copies passwords, access rules and certificate. Mosquitto requires that its user owns them, and that no other user can read
# them. Mounted files fulfill neither. The function replaces a file only after all new files exist. If a step fails, it prints an error
# and returns 1. Every step is checked, because set -e does not apply where the function is called in a condition.
write_files() {
  for name in mqtt_password mqtt_device_password; do
    [ -s "$secrets/$name" ] || { log "there is no password in $secrets/$name" && return 1; }
  done
  # The passwords are passed in a file, because the process list shows arguments.
  {
    printf 'millrace:%s\n' "$(cat "$secrets/mqtt_password")"
    printf 'devices:%s\n' "$(cat "$secrets/mqtt_device_password")"
  } >"$run/passwords.new" || return 1
  # Now each line must hold a name and a password hash, which begins with its algorithm.
  if ! mosquitto_passwd -U "$run/passwords.new" ||
    [ "$(grep -c '^[a-z]*:\$[0-9a-z]*\$' "$run/passwords.new")" != 2 ]; then
    rm -f "$run/passwords.new"
    log "mosquitto_passwd could not hash the passwords of $secrets"
    return 1
  fi
  if [ -e "$certificate" ]; then
    cat "$certificate" >"$run/server.pem" && cat "$key" >"$run/server.key" || return 1
  fi
  # mosquitto_sub and mosquitto_pub in this container read this file. They find it by XDG_CONFIG_HOME.
  printf -- '-u devices\n-P %s\n' "$(cat "$secrets/mqtt_device_password")" >"$run/mosquitto_sub" &&
    cat "$run/mosquitto_sub" >"$run/mosquitto_pub" &&
    cat "$configuration/mosquitto.acl" >"$run/acl.new" &&
    mv "$run/acl.new" "$run/acl" &&
    mv "$run/passwords.new" "$run/passwords"
}

checksum() {
  cat "$secrets"/mqtt_* "$configuration/mosquitto.acl" "$certificate" "$key" 2>/dev/null | cksum
}

reload_on_change() {
  seen=$(checksum)
  while sleep "$every" && kill -0 "$broker" 2>/dev/null; do
    now=$(checksum)
    [ "$now" = "$seen" ] && continue
    if write_files; then
      seen=$now
      kill -HUP "$broker" && log "reloaded the secrets and certificates: they have changed"
    else
      log "secrets or certificates have changed, but are not usable: the broker goes on with the old ones; next try in $every s"
    fi
  done
}

if ! write_files; then
  log "the broker is not started"
  exit 1
fi
reload_on_change &
exec mosquitto -c "$configuration/mosquitto.conf"
