#!/bin/sh
# Runs in ScyllaDB's container: adds our superuser and certificate to a copy of scylla.yaml, then starts the image's own entry point on it.
#
# A copy of the image's own file, so that all other defaults stay those of its version; and no arguments, because the
# image hands those through a shell, which would eat the dollar signs of the hash. With this there never is a role
# cassandra with the password cassandra (up to 2026.1), and there is a superuser at all (from 2026.2).
set -eu

original=${SCYLLA_YAML:-/etc/scylla/scylla.yaml}
superuser=${SUPERUSER_YAML:-/run/secrets/scylla_superuser}
entrypoint=${SCYLLA_ENTRYPOINT:-/docker-entrypoint.py}
configuration=${CONFIGURATION:-/tmp/scylla.yaml}
password=${CQL_PASSWORD_FILE:-/run/secrets/cql_password}
certificate=${TLS_CERTIFICATE:-/run/secrets/tls_certificate}
key=${TLS_KEY:-/run/secrets/tls_key}
credentials=${CQLSH_CREDENTIALS:-/tmp/cqlsh-credentials}

# Made anew at every start, readable by all: the server may run as another user than this script. The empty line is for an
# original that does not end in one.
{
  cat "$original"
  echo
  cat "$superuser"
  printf '%s\n' 'client_encryption_options:' '  enabled: true' "  certificate: $certificate" "  keyfile: $key"
} >"$configuration"
chmod 0644 "$configuration"

# For the health check's cqlsh, which takes no file that others can read. Arguments can be read in the list of processes.
rm -f "$credentials"
(
  umask 077
  printf '[plain_text_auth]\nusername = millrace\npassword = %s\n' "$(cat "$password")" >"$credentials"
)

exec "$entrypoint" "$@" "--options-file=$configuration"
