#!/bin/sh
# Takes the last ingest process away for good: ends its pod, then empties and ends its session at the broker.
#
# A session left behind goes on getting its share of the messages, which nobody takes. The autoscaler cannot know that, and only adds.
# So the StatefulSet carries a mark, whose session is to be ended, until it is: a run after one that failed finishes that first.
set -eu

usage() {
  echo "usage: sh infra/kubernetes/scale-in.sh [--dry-run] [--within SECONDS]"
  echo
  echo "  --dry-run         prints the commands, and does nothing"
  echo "  --within SECONDS  how long the pod may take to end, and then the session to be empty; default: 900"
  echo
  echo "Where an earlier run did not come to its end, finishes the process which that one took away, and takes no other."
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
say() { echo "scale-in.sh: $*" >&2; }
get() { kubectl --namespace "$namespace" get "$@"; }

# shown COMMAND...: prints the command, and runs it unless --dry-run
shown() {
  echo "+ $*"
  [ -n "$dry_run" ] || "$@"
}
change() { shown kubectl --namespace "$namespace" "$@"; }

# What else is at the job's true conditions: Complete, Failed, or nothing while it runs or is not there.
conditions() {
  get "job/$job" --ignore-not-found --output 'jsonpath={.status.conditions[?(@.status=="True")].type}'
}

trap 'exit 130' INT TERM
unfinished() {
  say "the session of $pod is not ended, and goes on getting a share that nobody takes. What went wrong:"
  say "  kubectl --namespace $namespace describe pod/$pod; kubectl --namespace $namespace logs job/$job"
  say "then run this again: it finishes $pod before it takes another away. Or bring it back, to take what waits for it:"
  say "  kubectl --namespace $namespace scale statefulset/millrace-ingest --replicas=$((last + 1))"
}

state=$(get statefulset/millrace-ingest --output "jsonpath={.spec.replicas} {.metadata.annotations.$mark}")
replicas=${state%% *}
marked=${state#* }
if [ -n "$marked" ] && [ "$replicas" -le "$marked" ]; then
  last=$marked
else
  # Without a mark; or with that of a process which was brought back.
  last=$((replicas - 1))
  marked=
fi
pod=millrace-ingest-$last
job=millrace-drain-$last

if [ -n "$marked" ]; then
  say "an earlier run took $pod away and did not come to its end: this one finishes it, and takes no other away"
  trap unfinished EXIT
  case " $(conditions) " in
    *" Failed "*) change delete "job/$job" ;;
  esac
else
  least=$(get horizontalpodautoscaler/millrace-ingest --ignore-not-found --output 'jsonpath={.spec.minReplicas}')
  if [ "$last" -lt "${least:-1}" ]; then
    say "there are $replicas, and ${least:-1} is the least (minReplicas in base/autoscaling.yaml)"
    exit 1
  fi
  # A job of that name is of an earlier time. From the mark on, it is this one's.
  change delete "job/$job" --ignore-not-found
  change annotate statefulset/millrace-ingest --overwrite "$mark=$last"
  if ! change scale statefulset/millrace-ingest --current-replicas="$replicas" --replicas="$last"; then
    say "nothing was taken away: run this again"
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
      say "$job still runs after $within s"
      exit 1
    fi
    sleep 5
    waited=$((waited + 5))
  done
fi
change annotate statefulset/millrace-ingest "$mark-"
trap - EXIT
[ -n "$dry_run" ] || say "$pod is gone, and its session is ended: $last ingest processes"
