#!/bin/sh
# Runs in ScyllaDB's container: adds our superuser and certificate to a copy of scylla.yaml, then runs the entry point of the image.
#
# The copy keeps all other defaults of the image's version. Arguments are not used, because the image passes them through a shell, which
# would expand the dollar signs of the password hash. Up to 2026.1, this file prevents the default role cassandra with the password
# cassandra. From 2026.2, it creates the superuser, which would otherwise be missing.
set -eu

original=${SCYLLA_YAML:-/etc/scylla/scylla.yaml}
superuser=${SUPERUSER_YAML:-/run/secrets/scylla_superuser}
entrypoint=${SCYLLA_ENTRYPOINT:-/docker-entrypoint.py}
configuration=${CONFIGURATION:-/tmp/scylla.yaml}
password=${CQL_PASSWORD_FILE:-/run/secrets/cql_password}
certificate=${TLS_CERTIFICATE:-/run/secrets/tls_certificate}
key=${TLS_KEY:-/run/secrets/tls_key}
credentials=${CQLSH_CREDENTIALS:-/tmp/cqlsh-credentials}

# The file is written at every start. It is readable by all, because the server may run as another user than this script. `echo` ends the
# last line of the original, which may have no final newline.
{
  cat "$original"
  echo
  cat "$superuser"
  printf '%s\n' 'client_encryption_options:' '  enabled: true' "  certificate: $certificate" "  keyfile: $key"
} >"$configuration"
chmod 0644 "$configuration"

# The health check calls cqlsh, which reads the password from this file, and refuses a file that others can read. A password in an
# argument would be visible in the process list.
rm -f "$credentials"
(
  umask 077
  printf '[plain_text_auth]\nusername = millrace\npassword = %s\n' "$(cat "$password")" >"$credentials"
)

exec "$entrypoint" "$@" "--options-file=$configuration"
