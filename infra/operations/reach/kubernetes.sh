#!/bin/sh
# Runs a script in the database's container of a pod: kubernetes.sh POD SCRIPT. NAMESPACE and CONTAINER (default scylla) select it.
set -eu
case "${1:---help}" in
  --help) echo "usage: sh infra/operations/reach/kubernetes.sh POD SCRIPT, for npm run operations -- ... --reach" && exit ;;
esac
exec kubectl exec -n "${NAMESPACE:-scylla}" "$1" -c "${CONTAINER:-scylla}" -- sh -c "$2"
