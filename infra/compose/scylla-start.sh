#!/bin/sh
# Runs in ScyllaDB's container: adds our superuser and certificate to a copy of scylla.yaml, then runs the image's own entry point.
#
# A copy of the image's own file keeps all other defaults of its version. Arguments are no alternative: the image passes them
# through a shell, which would expand the dollar signs of the hash. With this file there never is a role cassandra with the
# password cassandra (up to 2026.1), and a superuser always exists (from 2026.2).
set -eu

original=${SCYLLA_YAML:-/etc/scylla/scylla.yaml}
superuser=${SUPERUSER_YAML:-/run/secrets/scylla_superuser}
entrypoint=${SCYLLA_ENTRYPOINT:-/docker-entrypoint.py}
configuration=${CONFIGURATION:-/tmp/scylla.yaml}
password=${CQL_PASSWORD_FILE:-/run/secrets/cql_password}
certificate=${TLS_CERTIFICATE:-/run/secrets/tls_certificate}
key=${TLS_KEY:-/run/secrets/tls_key}
credentials=${CQLSH_CREDENTIALS:-/tmp/cqlsh-credentials}

# Written at every start, readable by all: the server may run as another user than this script. The empty line ends the last line
# of an original without a final newline.
{
  cat "$original"
  echo
  cat "$superuser"
  printf '%s\n' 'client_encryption_options:' '  enabled: true' "  certificate: $certificate" "  keyfile: $key"
} >"$configuration"
chmod 0644 "$configuration"

# This file is for cqlsh of the health check, which refuses a file that others can read. Arguments can be read in the list of processes.
rm -f "$credentials"
(
  umask 077
  printf '[plain_text_auth]\nusername = millrace\npassword = %s\n' "$(cat "$password")" >"$credentials"
)

exec "$entrypoint" "$@" "--options-file=$configuration"
