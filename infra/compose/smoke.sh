#!/bin/sh
# Starts docker-compose.yml and checks the path of a measurement: from a device to the broker, into the database, and out by HTTP. Each
# profile adds checks of its services. The containers keep running; `docker compose down` with the same profiles stops them.
# shellcheck disable=SC2016,SC2034 # `step` evaluates commands.
set -eu

usage() {
  cat <<'END'
sh infra/compose/smoke.sh [PROFILE...]

  PROFILE   cluster, monitoring, tls: started and tried as well

It needs docker with Compose 2.24 or newer, curl and openssl.
END
}

profiles=
for argument in "$@"; do
  case $argument in
    --help) usage && exit ;;
    cluster | monitoring | tls) profiles=${profiles:+$profiles,}$argument ;;
    *) usage >&2 && exit 64 ;;
  esac
done
cd "$(dirname "$0")/../.."

for program in docker curl openssl; do
  if ! command -v "$program" >/dev/null; then
    echo "smoke.sh: there is no '$program'. Install it; --help lists what else is needed." >&2
    exit 66
  fi
done

# step TEXT COMMAND: prints the text and runs the command
step() {
  echo "$1"
  eval "$2"
}

# eventually TEXT COMMAND: repeats the command until it succeeds, for two minutes at most
eventually() {
  step "$1" 'tries=60
until '"$2"'; do
  tries=$((tries - 1))
  [ $tries -gt 0 ] || exit 1
  sleep 2
done'
}

has() {
  case ,$profiles, in *,"$1",*) true ;; *) false ;; esac
}

export COMPOSE_PROFILES="$profiles"
secrets=infra/compose/secrets

cql='docker compose exec -T scylla cqlsh --credentials=/tmp/cqlsh-credentials -e'
# Tokens and passwords are passed by standard input, because the process list shows arguments.
as_reader='printf "header = \"Authorization: Bearer %s\"\n" "$(cat "$secrets/read_token")" | curl -fsS --config -'
as_admin='printf "user = \"admin:%s\"\n" "$(cat "$secrets/grafana_password")" | curl -fsS --config -'

# measure WHEN: publishes a measurement as a device, and checks that a reader gets it
measure() {
  step "A device publishes $1" 'value=$(date +%s)
docker compose exec -T mosquitto env XDG_CONFIG_HOME=/tmp/mosquitto mosquitto_pub -V 5 -q 1 \
  -t iot/v1/smoke/measurements -m "{\"sensor_id\":\"pressure\",\"value\":$value}"'
  eventually 'A reader gets it' "$as_reader"' \
  "http://127.0.0.1:${HTTP_PORT:-8080}/api/v1/latest?device=smoke" | grep -F "\"value\":$value"'
}

step 'Secrets' 'sh infra/compose/init.sh'
step 'All services start, each after the services that it needs are healthy' 'docker compose up --build --detach --quiet-pull'
# All services except the simulator have a health check. The services roles and migrate end when their work is done.
eventually 'Every service is healthy or has completed' 'services=$(docker compose config --services) &&
  well=$(docker compose ps --all --format "{{.Service}} {{.State}} {{.Health}} {{.ExitCode}}" | sed -nE \
    -e "s/ running healthy .*//p" -e "s/^(simulator) running .*/\1/p" -e "s/^(roles|migrate) exited +0\$/\1/p") &&
  ! printf "%s\n" "$services" | grep -qvxF "$well"'
step 'The commit log is synced before an acknowledgement' \
  "$cql"' "SELECT value FROM system.config WHERE name = '\''commitlog_sync'\''" | grep batch'
measure 'a measurement'

if has cluster; then
  step 'Three nodes are in three racks' \
    '[ "$('"$cql"' "SELECT rack FROM system.peers" | grep -Eo "rack[0-9]" | sort | xargs)" = "rack2 rack3" ]'
  step 'Every row is on three of them' \
    "$cql"' "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '\''iot'\''" | grep -E "'\''3'\''|rack3"'
  step 'One node stops' 'docker compose stop scylla-2'
  measure 'while the node is down'
  step 'The node starts again' 'docker compose start scylla-2'
fi

if has tls; then
  step 'The API shows a certificate of our authority' \
    'curl -fsS --cacert "$secrets/ca.pem" "https://localhost:${HTTPS_PORT:-8443}/healthz"'
  step 'The broker shows one, too' 'openssl s_client -connect "localhost:${MQTTS_PORT:-8883}" -CAfile "$secrets/ca.pem" \
  -verify_return_error -verify_hostname localhost </dev/null >/dev/null'
  eventually 'A reader gets the measurement there, read from the database by TLS' "$as_reader"' --cacert "$secrets/ca.pem" \
  "https://localhost:${HTTPS_PORT:-8443}/api/v1/latest?device=smoke" | grep -F "\"value\":$value"'
fi

if has monitoring; then
  eventually 'Prometheus reaches the API and the database' '[ "$(curl -fsS --get \
  --data-urlencode "query=count(count by (job) (up == 1))" \
  "http://127.0.0.1:${PROMETHEUS_PORT:-9090}/api/v1/query" | grep -Eo "\"[0-9]+\"\]")" = "\"2\"]" ]'
  step 'Prometheus has our rules' \
    'curl -fsS "http://127.0.0.1:${PROMETHEUS_PORT:-9090}/api/v1/rules" | grep -q MillraceNothingAcknowledged'
  step 'Grafana has our dashboards' \
    "$as_admin"' "http://127.0.0.1:${GRAFANA_PORT:-3000}/api/search?tag=millrace" | grep -q millrace-ingest'
  eventually "Loki has the database's log" "$as_admin"' --get --data-urlencode '\''query={job="database"}'\'' \
  "http://127.0.0.1:${GRAFANA_PORT:-3000}/api/datasources/proxy/uid/millrace-loki/loki/api/v1/query_range" | grep -q scylla'
fi

echo 'All of it works.'
