#!/bin/sh
# Writes random secrets for docker-compose.yml to infra/compose/secrets, once: a file that is there is kept.
#
# The directory is the lock (0700): nobody else on this machine gets past it. The files in it can be read by all (0644),
# because each is mounted into containers whose users have other ids.
set -eu

openssl=${OPENSSL:-openssl}
directory=${1:-$(dirname "$0")/secrets}

if ! printf 'x\n' | "$openssl" passwd -6 -stdin >/dev/null 2>&1; then
  echo "init.sh: '$openssl' cannot hash with SHA-512 (passwd -6). Install OpenSSL 1.1.1 or newer (Debian: apt-get install" \
    "openssl; macOS: brew install openssl) and name it: OPENSSL=/path/to/openssl sh infra/compose/init.sh" >&2
  exit 66
fi

mkdir -p "$directory"
chmod 0700 "$directory"

# write NAME: puts standard input into the file NAME, whole or not at all
write() {
  cat >"$directory/.$1"
  chmod 0644 "$directory/.$1"
  mv "$directory/.$1" "$directory/$1"
  echo "written  $directory/$1"
}

for name in api_token cursor_secret cql_password cql_migrate_password cql_serve_password mqtt_password mqtt_device_password; do
  if [ -e "$directory/$name" ]; then
    echo "kept     $directory/$name"
  else
    "$openssl" rand -hex 24 | write "$name"
  fi
done

# ScyllaDB takes the password of its first superuser as a hash in scylla.yaml, on its first start only.
if [ -e "$directory/scylla_superuser.yaml" ]; then
  echo "kept     $directory/scylla_superuser.yaml"
else
  hash=$("$openssl" passwd -6 -stdin <"$directory/cql_password")
  write scylla_superuser.yaml <<END
authenticator: PasswordAuthenticator
authorizer: CassandraAuthorizer
auth_superuser_name: millrace
auth_superuser_salted_password: '$hash'
END
fi

echo
echo "Next: docker compose up --build"
echo "Then: http://127.0.0.1:8080 with the token in $directory/api_token"
