#!/usr/bin/env bash
# Installs what infra/kubernetes/scylla needs: cert-manager, prometheus-operator, scylla-operator, the local disks, the driver of local
# volumes and Scylla Manager, each after the one before is ready. A second run changes nothing.
#
# usage: bash infra/kubernetes/scylla/install.sh [cert-manager | operators]: stops after that part; operators are enough for Kubernetes to
# know all resources. Needs kubectl and curl. First label and taint the nodes for ScyllaDB, and adapt node-config.yaml to their disks.
set -euo pipefail

last=${1:-}
here=$(dirname "$0")
cert_manager=https://github.com/cert-manager/cert-manager/releases/download/v1.21.2/cert-manager.yaml
operator=https://raw.githubusercontent.com/scylladb/scylla-operator/v1.21.1
version=${operator##*/v}

fail() {
  echo "install.sh: $*" >&2
  exit 1
}
case "$last" in "" | cert-manager | operators) ;; *) fail "the part is cert-manager or operators: $last" ;; esac

apply() { kubectl apply --server-side "$@"; }
established() { kubectl wait --timeout=1m --for=condition=established "$@"; }
rolled_out() { kubectl --namespace "$1" rollout status --timeout=10m "$2"; }
# reconciled NAMESPACE RESOURCE: waits for the three conditions that the guides of the operator wait for
reconciled() {
  for condition in Progressing=False Degraded=False Available=True; do
    kubectl --namespace "$1" wait --timeout=10m --for=condition=$condition "$2"
  done
}

apply --filename "$cert_manager"
established crd/certificates.cert-manager.io crd/issuers.cert-manager.io
for name in cert-manager cert-manager-cainjector cert-manager-webhook; do
  rolled_out cert-manager "deployment/$name"
done
[ "$last" != cert-manager ] || exit 0

apply --filename "$operator/examples/third-party/prometheus-operator.yaml"
established crd/servicemonitors.monitoring.coreos.com crd/prometheusrules.monitoring.coreos.com

# The manifest names a moving tag twice: for the operator and for the sidecar of each ScyllaDB. Both are replaced by the same version.
manifest=$(curl -fsSL "$operator/deploy/operator.yaml" | sed "s#\\(scylladb/scylla-operator\\):[^\"[:space:]]*#\\1:$version#") ||
  fail "could not fetch $operator/deploy/operator.yaml"
case "$manifest" in
  *"scylladb/scylla-operator:$version"*"scylladb/scylla-operator:$version"*) ;;
  *) fail "$operator/deploy/operator.yaml does not name its image twice, so it was not applied: find out how to pin its version" ;;
esac
apply --namespace scylla-operator --filename - <<<"$manifest"
established crd/scyllaclusters.scylla.scylladb.com crd/nodeconfigs.scylla.scylladb.com
rolled_out scylla-operator deployment/scylla-operator
rolled_out scylla-operator deployment/webhook-server
[ "$last" != operators ] || exit 0

[ -n "$(kubectl get nodes --selector scylla.scylladb.com/node-type=scylla --output name)" ] ||
  fail "no node has the label scylla.scylladb.com/node-type=scylla: label and taint the nodes for ScyllaDB, then run this again"
# `kubectl apply -k infra/kubernetes/scylla` also applies this file.
kubectl apply --filename "$here/node-config.yaml"
reconciled scylla-operator nodeconfigs.scylla.scylladb.com/millrace

driver=()
for name in 00_clusterrole_def 00_clusterrole_def_openshift 00_clusterrole 00_namespace 00_scylladb-local-xfs.storageclass \
  10_csidriver 10_serviceaccount 20_clusterrolebinding 50_daemonset; do
  driver+=(--filename "$operator/examples/common/local-volume-provisioner/local-csi-driver/$name.yaml")
done
apply --namespace local-csi-driver "${driver[@]}"
rolled_out local-csi-driver daemonset/local-csi-driver

apply --namespace scylla-manager --filename "$operator/deploy/manager-prod.yaml"
reconciled scylla-manager scyllaclusters.scylla.scylladb.com/scylla-manager-cluster
rolled_out scylla-manager deployment/scylla-manager
