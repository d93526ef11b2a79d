#!/bin/sh
# Runs in Mosquitto's container: makes the password file from the secrets, then becomes the broker. Beside it goes on a loop that
# looks at the secrets and certificates, as Kubernetes renews those in place, and has the broker take them anew.
set -eu

secrets=${SECRETS:-/run/secrets/millrace}
configuration=${CONFIGURATION:-/opt/millrace}
certificates=${CERTIFICATES:-/etc/millrace/tls}
run=${RUN_DIRECTORY:-/tmp/mosquitto}
every=${LOOK_EVERY_SECONDS:-30}
broker=$$

umask 077
mkdir -p "$run"

say() { echo "start.sh: $*" >&2; }

# Mosquitto wants its password and access files owned by its own user and closed to others; mounted files are neither. Nothing is
# replaced before all of it is made. Returns 1 with words where it cannot be: its callers go on or end, so every step is asked.
write_accounts() {
  for name in mqtt_password mqtt_device_password; do
    [ -s "$secrets/$name" ] || { say "there is no password in $secrets/$name" && return 1; }
  done
  # Through a file, not an argument: arguments can be read in the list of processes.
  {
    printf 'millrace:%s\n' "$(cat "$secrets/mqtt_password")"
    printf 'devices:%s\n' "$(cat "$secrets/mqtt_device_password")"
  } >"$run/passwords.new" || return 1
  # Each line is a name and a hash by now, which begins with the name of its kind.
  if ! mosquitto_passwd -U "$run/passwords.new" ||
    [ "$(grep -c '^[a-z]*:\$[0-9a-z]*\$' "$run/passwords.new")" != 2 ]; then
    rm -f "$run/passwords.new"
    say "mosquitto_passwd could not hash the passwords of $secrets"
    return 1
  fi
  # For mosquitto_sub and mosquitto_pub in this container, by XDG_CONFIG_HOME.
  printf -- '-u devices\n-P %s\n' "$(cat "$secrets/mqtt_device_password")" >"$run/mosquitto_sub" &&
    cat "$run/mosquitto_sub" >"$run/mosquitto_pub" &&
    cat "$configuration/mosquitto.acl" >"$run/acl.new" &&
    mv "$run/acl.new" "$run/acl" &&
    mv "$run/passwords.new" "$run/passwords"
}

what_is_mounted() {
  cat "$secrets"/* "$configuration/mosquitto.acl" "$certificates"/* 2>/dev/null | cksum
}

follow() {
  seen=$(what_is_mounted)
  while sleep "$every" && kill -0 "$broker" 2>/dev/null; do
    now=$(what_is_mounted)
    [ "$now" = "$seen" ] && continue
    if write_accounts; then
      seen=$now
      kill -HUP "$broker" && say "secrets or certificates have changed, and were taken anew"
    else
      say "secrets or certificates have changed, and could not be taken: the broker goes on with the old ones; next try in $every s"
    fi
  done
}

if ! write_accounts; then
  say "the broker is not started"
  exit 1
fi
follow &
exec mosquitto -c "$configuration/mosquitto.conf"
