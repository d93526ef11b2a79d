#!/bin/sh
# Writes random secrets and certificates for docker-compose.yml to infra/compose/secrets. An existing file stays unchanged.
#
# Only the owner can enter the directory (0700). The files in it are readable by all (0644), because each file is mounted into containers
# whose users have other ids. No container gets the key of the authority (0600).
# shellcheck disable=SC2016,SC2034 # `make` evaluates commands.
set -eu

usage() {
  cat <<'END'
sh infra/compose/init.sh [--host NAMES] [DIRECTORY]

  --host NAMES   names and addresses that clients connect to with TLS, comma-separated, besides localhost and those of the
                 containers; where there is a certificate already, remove server.* first
  DIRECTORY      for the files; default: secrets in the folder of this script, where docker-compose.yml looks

OPENSSL=/path/to/openssl names another OpenSSL.
END
}

openssl=${OPENSSL:-openssl}
directory=$(dirname "$0")/secrets
hosts=localhost,127.0.0.1,::1,mosquitto,https,cql
while [ $# -gt 0 ]; do
  case $1 in
    --help) usage && exit ;;
    --host) hosts=$hosts,${2?--host takes names} && shift ;;
    -*) usage >&2 && exit 64 ;;
    *) directory=$1 ;;
  esac
  shift
done

if ! printf 'x\n' | "$openssl" passwd -6 -stdin >/dev/null 2>&1; then
  echo "init.sh: '$openssl' cannot hash with SHA-512 (passwd -6). Install OpenSSL 1.1.1 or newer (Debian: apt-get install" \
    "openssl; macOS: brew install openssl) and name it: OPENSSL=/path/to/openssl sh infra/compose/init.sh" >&2
  exit 66
fi

# alternative_names HOSTS: prints the hosts in the syntax of OpenSSL's configuration, such as DNS:localhost,IP:127.0.0.1
alternative_names() {
  printf '%s\n' "$1" | tr ',' '\n' | sed -E -e '/:|^[0-9.]+$/s/^/IP:/' -e '/^IP:/!s/^/DNS:/' | paste -s -d , -
}

# make FILE MODE COMMAND: writes the output of the command to the file, completely or not at all
make() {
  file=$directory/$1
  if [ -e "$file" ]; then
    echo "kept     $file"
    return
  fi
  eval "$3" >"$file.new"
  chmod "$2" "$file.new"
  mv "$file.new" "$file"
  echo "written  $file"
}

names=$(alternative_names "$hosts")
mkdir -p "$directory"
chmod 0700 "$directory"

for name in api_token read_token ingest_token cursor_secret cql_password cql_migrate_password cql_serve_password mqtt_password \
  mqtt_device_password grafana_password; do
  make "$name" 0644 '"$openssl" rand -hex 24'
done

# ScyllaDB reads the password hash of its first superuser from scylla.yaml, on its first start only.
make scylla_superuser.yaml 0644 'printf "%s: \047%s\047\n" \
  authenticator PasswordAuthenticator authorizer CassandraAuthorizer auth_superuser_name millrace \
  auth_superuser_salted_password "$("$openssl" passwd -6 -stdin <"$directory/cql_password")"'

# The authority is valid for ten years, because a person must install a new authority in each client. The server certificate is valid for
# one year, which browsers accept.
make server.cnf 0644 'printf "%s\n" \
  "[req]" "prompt = no" "distinguished_name = subject" \
  "[subject]" "O = Millrace" "CN = localhost" \
  "[authority]" "basicConstraints = critical, CA:true, pathlen:0" "keyUsage = critical, keyCertSign, cRLSign" \
  "subjectKeyIdentifier = hash" \
  "[server]" "basicConstraints = critical, CA:false" "keyUsage = critical, digitalSignature" \
  "extendedKeyUsage = serverAuth" "subjectKeyIdentifier = hash" "authorityKeyIdentifier = keyid" \
  "subjectAltName = $names"'
new_key='"$openssl" genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256'
make ca.key 0600 "$new_key"
make ca.pem 0644 '"$openssl" req -x509 -new -key "$directory/ca.key" -config "$directory/server.cnf" \
  -extensions authority -subj "/O=Millrace/CN=Millrace compose CA" -days 3650'
make server.key 0644 "$new_key"
make server.pem 0644 '"$openssl" req -new -key "$directory/server.key" -config "$directory/server.cnf" |
  "$openssl" x509 -req -CA "$directory/ca.pem" -CAkey "$directory/ca.key" -set_serial "0x40$("$openssl" rand -hex 15)" \
    -sha256 -days 365 -extfile "$directory/server.cnf" -extensions server'

cat <<END

Next: docker compose up --build; for three nodes at once: docker compose --profile cluster up --build
Then: http://127.0.0.1:8080 with the token in $directory/api_token
END
