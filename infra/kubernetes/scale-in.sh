#!/bin/sh
# Takes the last ingest process away for good: ends its pod, then empties and ends its session at the broker.
#
# A session left behind goes on getting its share of the messages, which nobody takes. The autoscaler cannot know that, and only adds.
set -eu

usage() {
  echo "usage: sh infra/kubernetes/scale-in.sh [--dry-run] [--within SECONDS]"
  echo
  echo "  --dry-run         prints the commands, and does nothing"
  echo "  --within SECONDS  how long the pod may take to end, and then the session to be empty; default: 900"
}

namespace=millrace
within=900
dry_run=
while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry_run=1 ;;
    --within) within=${2:?--within needs seconds} && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

here=$(dirname "$0")
say() { echo "scale-in.sh: $*" >&2; }
get() { kubectl --namespace "$namespace" get "$@"; }

# shown COMMAND...: prints the command, and runs it unless --dry-run
shown() {
  echo "+ $*"
  [ -n "$dry_run" ] || "$@"
}

replicas=$(get statefulset/millrace-ingest --output 'jsonpath={.spec.replicas}')
least=$(get horizontalpodautoscaler/millrace-ingest --ignore-not-found --output 'jsonpath={.spec.minReplicas}')
last=$((replicas - 1))
if [ "$last" -lt "${least:-1}" ]; then
  say "there are $replicas, and ${least:-1} is the least (minReplicas in base/autoscaling.yaml)"
  exit 1
fi

pod=millrace-ingest-$last
job=millrace-drain-$last
shown kubectl --namespace "$namespace" scale statefulset/millrace-ingest --current-replicas="$replicas" --replicas="$last"
shown kubectl --namespace "$namespace" wait --for=delete "pod/$pod" --timeout="${within}s"
shown kubectl --namespace "$namespace" delete "job/$job" --ignore-not-found

echo "+ kubectl kustomize $here/jobs/drain | sed s/ORDINAL/$last/g | kubectl --namespace $namespace apply --filename -"
[ -n "$dry_run" ] && exit 0
kubectl kustomize "$here/jobs/drain" | sed "s/ORDINAL/$last/g" | kubectl --namespace "$namespace" apply --filename -

waited=0
while [ "$waited" -lt "$within" ]; do
  conditions=$(get "job/$job" --output 'jsonpath={.status.conditions[?(@.status=="True")].type}')
  case " $conditions " in
    *" Complete "*)
      say "$pod is gone, and its session is ended: $replicas - 1 = $last ingest processes"
      exit 0
      ;;
    *" Failed "*) break ;;
  esac
  sleep 5
  waited=$((waited + 5))
done
say "the session of $pod is not ended, and goes on getting a share: kubectl --namespace $namespace logs job/$job"
say "bring the process back: kubectl --namespace $namespace scale statefulset/millrace-ingest --replicas=$replicas"
exit 1
