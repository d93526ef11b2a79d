#!/bin/sh
# Runs a script in the database container of a pod: kubernetes.sh POD SCRIPT. The environment variables NAMESPACE and CONTAINER (default:
# scylla) select the container.
set -eu
case "${1:---help}" in
  --help) echo "usage: sh infra/operations/reach/kubernetes.sh POD SCRIPT, for npm run operations -- ... --reach" && exit ;;
esac
exec kubectl exec -n "${NAMESPACE:-scylla}" "$1" -c "${CONTAINER:-scylla}" -- sh -c "$2"
