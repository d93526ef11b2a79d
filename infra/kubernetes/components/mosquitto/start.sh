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

# Mosquitto wants its password and access files owned by its own user and closed to others; mounted files are neither.
write_accounts() {
  # Through a file, not an argument: arguments can be read in the list of processes.
  {
    printf 'millrace:%s\n' "$(cat "$secrets/mqtt_password")"
    printf 'devices:%s\n' "$(cat "$secrets/mqtt_device_password")"
  } >"$run/passwords.new"
  mosquitto_passwd -U "$run/passwords.new"
  mv "$run/passwords.new" "$run/passwords"
  # For mosquitto_sub and mosquitto_pub in this container, by XDG_CONFIG_HOME.
  printf -- '-u devices\n-P %s\n' "$(cat "$secrets/mqtt_device_password")" >"$run/mosquitto_sub"
  cat "$run/mosquitto_sub" >"$run/mosquitto_pub"
  cat "$configuration/mosquitto.acl" >"$run/acl"
}

what_is_mounted() {
  cat "$secrets"/* "$configuration/mosquitto.acl" "$certificates"/* 2>/dev/null | cksum
}

follow() {
  seen=$(what_is_mounted)
  while sleep "$every" && kill -0 "$broker" 2>/dev/null; do
    now=$(what_is_mounted)
    [ "$now" = "$seen" ] && continue
    seen=$now
    write_accounts && kill -HUP "$broker" && echo "start.sh: secrets or certificates have changed, and were taken anew"
  done
}

write_accounts
follow &
exec mosquitto -c "$configuration/mosquitto.conf"
