#!/bin/sh
# Removes the ingest process with the highest number: ends its pod, then drains and ends its session at the broker.
#
# Without this, the broker would still send a share of the messages to the session of the removed process, and no process would read them.
# The autoscaler does not end sessions, so it only adds processes. An annotation on the StatefulSet names the session to end. If this
# script fails, the next run finishes the removal.
set -eu

usage() {
  echo "usage: sh infra/kubernetes/scale-in.sh [--dry-run] [--within SECONDS]"
  echo
  echo "  --dry-run         prints the commands and runs none"
  echo "  --within SECONDS  limit for the end of the pod, and again for the drain of its session (default: 900)"
  echo
  echo "If an earlier run failed, this run finishes the process that it removed, and removes no other."
}

namespace=millrace
mark=millrace-draining
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
case "$within" in
  *[!0-9]*) echo "scale-in.sh: --within takes seconds, a number alone: $within" >&2 && exit 2 ;;
esac

here=$(dirname "$0")
log() { echo "scale-in.sh: $*" >&2; }
get() { kubectl --namespace "$namespace" get "$@"; }

# shown COMMAND...: prints the command, and runs it unless --dry-run
shown() {
  echo "+ $*"
  [ -n "$dry_run" ] || "$@"
}
change() { shown kubectl --namespace "$namespace" "$@"; }

# conditions: prints the true conditions of the job: Complete or Failed, or nothing while it runs or does not exist
conditions() {
  get "job/$job" --ignore-not-found --output 'jsonpath={.status.conditions[?(@.status=="True")].type}'
}

trap 'exit 130' INT TERM
unfinished() {
  log "the session of $pod is not ended: it still gets a share of the messages, which nobody reads. Look for the cause:"
  log "  kubectl --namespace $namespace describe pod/$pod; kubectl --namespace $namespace logs job/$job"
  log "then run this again: it finishes $pod before it removes another. Or bring the pod back to read the waiting messages:"
  log "  kubectl --namespace $namespace scale statefulset/millrace-ingest --replicas=$((last + 1))"
}

state=$(get statefulset/millrace-ingest --output "jsonpath={.spec.replicas} {.metadata.annotations.$mark}")
replicas=${state%% *}
marked=${state#* }
if [ -n "$marked" ] && [ "$replicas" -le "$marked" ]; then
  last=$marked
else
  # No process is marked for removal, or the marked process was added again.
  last=$((replicas - 1))
  marked=
fi
pod=millrace-ingest-$last
job=millrace-drain-$last

if [ -n "$marked" ]; then
  log "an earlier run removed $pod and failed: this run finishes it and removes no other"
  trap unfinished EXIT
  case " $(conditions) " in
    *" Failed "*) change delete "job/$job" ;;
  esac
else
  least=$(get horizontalpodautoscaler/millrace-ingest --ignore-not-found --output 'jsonpath={.spec.minReplicas}')
  if [ "$last" -lt "${least:-1}" ]; then
    log "there are $replicas, and the minimum is ${least:-1} (minReplicas in base/autoscaling.yaml)"
    exit 1
  fi
  # A job with this name may be left from an earlier run. It is deleted before the mark is set, so that a later job belongs to this run.
  change delete "job/$job" --ignore-not-found
  change annotate statefulset/millrace-ingest --overwrite "$mark=$last"
  if ! change scale statefulset/millrace-ingest --current-replicas="$replicas" --replicas="$last"; then
    log "nothing was taken away: run this again"
    exit 1
  fi
  [ -n "$dry_run" ] || trap unfinished EXIT
fi
change wait --for=delete "pod/$pod" --timeout="${within}s"

echo "+ kubectl kustomize $here/jobs/drain | sed s/ORDINAL/$last/g | kubectl --namespace $namespace apply --filename -"
if [ -z "$dry_run" ]; then
  manifest=$(kubectl kustomize "$here/jobs/drain")
  printf '%s\n' "$manifest" | sed "s/ORDINAL/$last/g" | kubectl --namespace "$namespace" apply --filename -
  waited=0
  while :; do
    case " $(conditions) " in
      *" Complete "*) break ;;
      *" Failed "*) exit 1 ;;
    esac
    if [ "$waited" -ge "$within" ]; then
      log "$job still runs after $within s"
      exit 1
    fi
    sleep 5
    waited=$((waited + 5))
  done
fi
change annotate statefulset/millrace-ingest "$mark-"
trap - EXIT
[ -n "$dry_run" ] || log "$pod and its session are ended: $last ingest processes remain"
