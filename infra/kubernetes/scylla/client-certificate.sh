#!/usr/bin/env bash
# Copies the authority and a client certificate for the TLS port of ScyllaDB, which overlays/tls uses, to the namespace of the
# application. The operator makes both in the namespace of ScyllaDB, but a pod can only mount secrets of its own namespace.
#
# The operator renews the client certificate after eight of its ten years. Run this script again then, and after the ScyllaDB cluster was
# recreated.
set -euo pipefail

usage() {
  echo "usage: bash infra/kubernetes/scylla/client-certificate.sh [--dry-run]"
  echo
  echo "  --dry-run  prints the commands and runs none"
}

dry_run=
case "${1:-}" in
  "") ;;
  --dry-run) dry_run=1 ;;
  -h | --help) usage && exit 0 ;;
  *) usage >&2 && exit 2 ;;
esac

fail() {
  echo "client-certificate.sh: $*" >&2
  exit 1
}

umask 077
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT

# take FILE RESOURCE TEMPLATE: applies the Go template to the Kubernetes resource, and writes the result to the file
take() {
  echo "+ kubectl --namespace scylla get $2 --output go-template='$3' >$1"
  [ -z "$dry_run" ] || return 0
  kubectl --namespace scylla get "$2" --output "go-template=$3" >"$files/$1" ||
    fail "the operator has made no $2 yet: is the ScyllaCluster available?"
  grep -q '^-----BEGIN ' "$files/$1" || fail "$2 does not hold a PEM text at $3"
}

take ca.crt configmap/millrace-local-serving-ca '{{index .data "ca-bundle.crt"}}'
take tls.crt secret/millrace-local-user-admin '{{index .data "tls.crt" | base64decode}}'
take tls.key secret/millrace-local-user-admin '{{index .data "tls.key" | base64decode}}'

create=(kubectl --namespace millrace create secret generic millrace-cql-tls --dry-run=client --output yaml)
apply=(kubectl apply --server-side --filename -)
echo "+ ${create[*]} --from-file=ca.crt --from-file=tls.crt --from-file=tls.key | ${apply[*]}"
[ -z "$dry_run" ] || exit 0
"${create[@]}" --from-file="$files/ca.crt" --from-file="$files/tls.crt" --from-file="$files/tls.key" | "${apply[@]}"
