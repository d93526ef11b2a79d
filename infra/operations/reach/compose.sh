#!/bin/sh
# Runs a script in the container of a service of docker-compose.yml: compose.sh SERVICE SCRIPT
set -eu
case "${1:---help}" in
  --help) echo "usage: sh infra/operations/reach/compose.sh SERVICE SCRIPT, for npm run operations -- ... --reach" && exit ;;
esac
# A container has no systemctl, and stops with its main process. So systemctl commands become docker compose commands for the container.
case "$2" in
  'sudo systemctl stop '* | 'sudo systemctl disable --now '*) exec docker compose stop "$1" ;;
  'sudo systemctl start '*) exec docker compose start "$1" ;;
  'sudo systemctl restart '*) exec docker compose restart "$1" ;;
  'sudo systemctl reload '*) exec docker compose kill --signal HUP "$1" ;;
esac
exec docker compose exec -T "$1" sh -c "$2"
