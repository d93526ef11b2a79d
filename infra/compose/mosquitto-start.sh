#!/bin/sh
# Runs in Mosquitto's container: writes the password file from the secrets, then runs the broker.
#
# Mosquitto requires that its user owns the password, access and key files, and that no other user can read them. Mounted files fulfill
# neither, so this script copies them.
set -eu

secrets=${SECRETS:-/run/secrets}
certificate=${TLS_CERTIFICATE:-$secrets/tls_certificate}
key=${TLS_KEY:-$secrets/tls_key}
configuration=${CONFIGURATION:-/opt/millrace}
run=${RUN_DIRECTORY:-/tmp/mosquitto}

umask 077
mkdir -p "$run"
# The passwords are passed in a file, because the process list shows arguments.
{
  printf 'millrace:%s\n' "$(cat "$secrets/mqtt_password")"
  printf 'devices:%s\n' "$(cat "$secrets/mqtt_device_password")"
} >"$run/passwords"
mosquitto_passwd -U "$run/passwords"
# The health check calls mosquitto_sub, which reads this file. So does a client that publishes from inside this container.
printf -- '-u devices\n-P %s\n' "$(cat "$secrets/mqtt_device_password")" | tee "$run/mosquitto_pub" >"$run/mosquitto_sub"
cat "$configuration/mosquitto.acl" >"$run/acl"
cat "$certificate" >"$run/server.pem"
cat "$key" >"$run/server.key"

exec mosquitto -c "$configuration/mosquitto.conf"
