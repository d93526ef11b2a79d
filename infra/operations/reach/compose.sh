#!/bin/sh
# Runs a script in the container of a service of docker-compose.yml: compose.sh SERVICE SCRIPT
set -eu
case "${1:---help}" in
  --help) echo "usage: sh infra/operations/reach/compose.sh SERVICE SCRIPT, for npm run operations -- ... --reach" && exit ;;
esac
exec docker compose exec -T "$1" sh -c "$2"
