#!/bin/sh
# Runs in the container of Mosquitto: writes the password file from the secrets, then becomes the broker. Kubernetes renews secrets
# and certificates in place. A loop next to the broker detects that and makes the broker reload them.
set -eu

secrets=${SECRETS:-/run/secrets/millrace}
configuration=${CONFIGURATION:-/opt/millrace}
certificates=${CERTIFICATES:-/etc/millrace/tls}
run=${RUN_DIRECTORY:-/tmp/mosquitto}
every=${LOOK_EVERY_SECONDS:-30}
broker=$$

umask 077
mkdir -p "$run"

log() { echo "start.sh: $*" >&2; }

# Mosquitto wants its password and access files owned by its own user and closed to others. Mounted files are neither. The function
# replaces nothing before all new files exist. It returns 1 with an error message when a step fails. set -e does not apply in
# its callers, so every step is checked.
write_accounts() {
  for name in mqtt_password mqtt_device_password; do
    [ -s "$secrets/$name" ] || { log "there is no password in $secrets/$name" && return 1; }
  done
  # The password goes through a file, because the list of processes shows arguments.
  {
    printf 'millrace:%s\n' "$(cat "$secrets/mqtt_password")"
    printf 'devices:%s\n' "$(cat "$secrets/mqtt_device_password")"
  } >"$run/passwords.new" || return 1
  # Each line must now be a name and a hash that starts with the name of its kind.
  if ! mosquitto_passwd -U "$run/passwords.new" ||
    [ "$(grep -c '^[a-z]*:\$[0-9a-z]*\$' "$run/passwords.new")" != 2 ]; then
    rm -f "$run/passwords.new"
    log "mosquitto_passwd could not hash the passwords of $secrets"
    return 1
  fi
  # This file is for mosquitto_sub and mosquitto_pub in this container, which find it by XDG_CONFIG_HOME.
  printf -- '-u devices\n-P %s\n' "$(cat "$secrets/mqtt_device_password")" >"$run/mosquitto_sub" &&
    cat "$run/mosquitto_sub" >"$run/mosquitto_pub" &&
    cat "$configuration/mosquitto.acl" >"$run/acl.new" &&
    mv "$run/acl.new" "$run/acl" &&
    mv "$run/passwords.new" "$run/passwords"
}

checksum() {
  cat "$secrets"/* "$configuration/mosquitto.acl" "$certificates"/* 2>/dev/null | cksum
}

reload_on_change() {
  seen=$(checksum)
  while sleep "$every" && kill -0 "$broker" 2>/dev/null; do
    now=$(checksum)
    [ "$now" = "$seen" ] && continue
    if write_accounts; then
      seen=$now
      kill -HUP "$broker" && log "reloaded the secrets and certificates: they have changed"
    else
      log "secrets or certificates have changed, but are not usable: the broker goes on with the old ones; next try in $every s"
    fi
  done
}

if ! write_accounts; then
  log "the broker is not started"
  exit 1
fi
reload_on_change &
exec mosquitto -c "$configuration/mosquitto.conf"
