#!/usr/bin/env bash
# Installs cert-manager, prometheus-operator and scylla-operator. Then prepares the disks of the nodes for ScyllaDB, and installs
# the driver of local volumes and Scylla Manager. The script waits until each part is ready before it installs the next. A second
# run changes nothing.
set -euo pipefail

usage() {
  echo "usage: bash infra/kubernetes/scylla/install.sh [--dry-run] [--operators-only]"
  echo
  echo "  --dry-run         prints the commands and runs none"
  echo "  --operators-only  stops before the nodes: enough for Kubernetes to know all resources"
  echo
  echo "Needs kubectl and curl. First label and taint the nodes for ScyllaDB, and adapt node-config.yaml to their disks."
}

dry_run=
operators_only=
while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry_run=1 ;;
    --operators-only) operators_only=1 ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

here=$(dirname "$0")
cert_manager=https://github.com/cert-manager/cert-manager/releases/download/v1.21.2/cert-manager.yaml
operator=https://raw.githubusercontent.com/scylladb/scylla-operator/v1.21.1
version=${operator##*/v}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

# shown COMMAND...: prints the command, and runs it unless --dry-run
shown() {
  echo "+ $*"
  [ -n "$dry_run" ] || "$@"
}
apply() { shown kubectl apply --server-side "$@"; }
established() { shown kubectl wait --timeout=1m --for=condition=established "$@"; }
rolled_out() { shown kubectl --namespace "$1" rollout status --timeout=10m "$2"; }
# reconciled NAMESPACE RESOURCE: waits for the three conditions that the guides of the operator wait for
reconciled() {
  shown kubectl --namespace "$1" wait --timeout=10m --for=condition=Progressing=False "$2"
  shown kubectl --namespace "$1" wait --timeout=10m --for=condition=Degraded=False "$2"
  shown kubectl --namespace "$1" wait --timeout=10m --for=condition=Available=True "$2"
}

apply --filename "$cert_manager"
established crd/certificates.cert-manager.io crd/issuers.cert-manager.io
for name in cert-manager cert-manager-cainjector cert-manager-webhook; do
  rolled_out cert-manager "deployment/$name"
done

apply --filename "$operator/examples/third-party/prometheus-operator.yaml"
established crd/servicemonitors.monitoring.coreos.com crd/prometheusrules.monitoring.coreos.com

# The manifest names a moving tag twice: for the operator and for the sidecar of each ScyllaDB. Both are replaced by the same version.
pin="s#\\(scylladb/scylla-operator\\):[^\"[:space:]]*#\\1:$version#"
echo "+ curl -fsSL $operator/deploy/operator.yaml | sed '$pin' | kubectl --namespace scylla-operator apply --server-side --filename -"
if [ -z "$dry_run" ]; then
  manifest=$(curl -fsSL "$operator/deploy/operator.yaml" | sed "$pin") || fail "could not fetch $operator/deploy/operator.yaml"
  case "$manifest" in
    *"scylladb/scylla-operator:$version"*"scylladb/scylla-operator:$version"*) ;;
    *) fail "$operator/deploy/operator.yaml does not name its image twice, so it was not applied: find out how to pin its version" ;;
  esac
  kubectl --namespace scylla-operator apply --server-side --filename - <<<"$manifest"
fi
established crd/scyllaclusters.scylla.scylladb.com crd/nodeconfigs.scylla.scylladb.com
rolled_out scylla-operator deployment/scylla-operator
rolled_out scylla-operator deployment/webhook-server
[ -z "$operators_only" ] || exit 0

if [ -z "$dry_run" ] && [ -z "$(kubectl get nodes --selector scylla.scylladb.com/node-type=scylla --output name)" ]; then
  fail "no node has the label scylla.scylladb.com/node-type=scylla: label and taint the nodes for ScyllaDB, then run this again"
fi
# `kubectl apply -k infra/kubernetes/scylla` also applies this file.
shown kubectl apply --filename "$here/node-config.yaml"
reconciled scylla-operator nodeconfigs.scylla.scylladb.com/millrace

driver=()
for name in 00_clusterrole_def 00_clusterrole_def_openshift 00_clusterrole 00_namespace 00_scylladb-local-xfs.storageclass \
  10_csidriver 10_serviceaccount 20_clusterrolebinding 50_daemonset; do
  driver+=(--filename "$operator/examples/common/local-volume-provisioner/local-csi-driver/$name.yaml")
done
shown kubectl --namespace local-csi-driver apply --server-side "${driver[@]}"
rolled_out local-csi-driver daemonset/local-csi-driver

shown kubectl --namespace scylla-manager apply --server-side --filename "$operator/deploy/manager-prod.yaml"
reconciled scylla-manager scyllaclusters.scylla.scylladb.com/scylla-manager-cluster
rolled_out scylla-manager deployment/scylla-manager
