#!/bin/sh
# Runs in Mosquitto's container: writes the password file from the secrets, then runs the broker.
#
# Mosquitto wants its password, access and key files owned by its own user and closed to others; mounted files are neither.
set -eu

secrets=${SECRETS:-/run/secrets}
certificate=${TLS_CERTIFICATE:-$secrets/tls_certificate}
key=${TLS_KEY:-$secrets/tls_key}
configuration=${CONFIGURATION:-/opt/millrace}
run=${RUN_DIRECTORY:-/tmp/mosquitto}

umask 077
mkdir -p "$run"
# The password goes through a file, because arguments can be read in the list of processes.
{
  printf 'millrace:%s\n' "$(cat "$secrets/mqtt_password")"
  printf 'devices:%s\n' "$(cat "$secrets/mqtt_device_password")"
} >"$run/passwords"
mosquitto_passwd -U "$run/passwords"
# This file is for mosquitto_sub of the health check, and for a client that publishes from inside this container.
printf -- '-u devices\n-P %s\n' "$(cat "$secrets/mqtt_device_password")" | tee "$run/mosquitto_pub" >"$run/mosquitto_sub"
cat "$configuration/mosquitto.acl" >"$run/acl"
cat "$certificate" >"$run/server.pem"
cat "$key" >"$run/server.key"

exec mosquitto -c "$configuration/mosquitto.conf"
