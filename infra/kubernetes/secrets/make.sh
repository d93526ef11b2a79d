#!/bin/sh
# Writes random secrets to files/ in this directory, or to the directory of its argument, for the kustomization here. An existing file
# stays unchanged. Then: kubectl apply -k infra/kubernetes/secrets
#
# The files are the only copy outside the cluster. Keep them with your other secrets, or delete them after you have applied them.
set -eu

openssl=${OPENSSL:-openssl}
directory=${1:-$(dirname "$0")/files}

if ! printf 'x\n' | "$openssl" passwd -6 -stdin >/dev/null 2>&1; then
  echo "make.sh: '$openssl' cannot hash with SHA-512 (passwd -6). Install OpenSSL 1.1.1 or newer (Debian: apt-get install" \
    "openssl; macOS: brew install openssl) and name it: OPENSSL=/path/to/openssl sh $0" >&2
  exit 66
fi

umask 077
mkdir -p "$directory"

# write NAME: writes standard input to the file NAME, completely or not at all
write() {
  cat >"$directory/.$1"
  mv "$directory/.$1" "$directory/$1"
  echo "written  $directory/$1"
}

for name in api_token read_tokens cursor_secret cql_password cql_migrate_password cql_serve_password cql_manager_password \
  mqtt_password mqtt_device_password; do
  if [ -e "$directory/$name" ]; then
    echo "kept     $directory/$name"
  else
    "$openssl" rand -hex 24 | tr -d '\n' | write "$name"
  fi
done

# ScyllaDB reads the password hash of its first superuser from scylla.yaml, on its first start only.
if [ -e "$directory/scylla.yaml" ]; then
  echo "kept     $directory/scylla.yaml"
else
  hash=$("$openssl" passwd -6 -stdin <"$directory/cql_password")
  write scylla.yaml <<END
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
auth_superuser_name: millrace
auth_superuser_salted_password: '$hash'
END
fi
