#!/bin/sh
# Runs a script as root on an EC2 instance through AWS Systems Manager, without an open inbound port: ssm.sh INSTANCE SCRIPT. When the
# script has ended, ssm.sh prints the first 24,000 characters of its output. AWS_PROFILE and AWS_REGION select account and region.
set -eu
usage='usage: sh infra/operations/ssm.sh INSTANCE SCRIPT'
case "${1:-}" in
  --help) echo "$usage" && exit ;;
esac
if [ $# -ne 2 ] || [ -z "$1" ]; then
  echo "$usage" >&2
  exit 64
fi
instance=$1

# The script may run for 48 h, the maximum of AWS-RunShellScript. Its default of one hour would end a repair. If the instance is
# unreachable, the command fails after a minute.
parameters=$(node -p 'JSON.stringify({ commands: [process.argv[1]], executionTimeout: ["172800"] })' -- "$2")
command=$(aws ssm send-command --instance-ids "$instance" --document-name AWS-RunShellScript --timeout-seconds 60 \
  --parameters "$parameters" --query Command.CommandId --output text)
trap 'aws ssm cancel-command --command-id "$command"; exit 130' INT TERM

status=Pending
unseen=0
while :; do
  case $status in
    # None: Systems Manager does not list the command yet.
    None | Pending | InProgress | Delayed | Cancelling) sleep 2 ;;
    *) break ;;
  esac
  if status=$(aws ssm list-command-invocations --command-id "$command" --query 'CommandInvocations[0].Status' --output text); then
    unseen=0
  else
    status=Pending
    unseen=$((unseen + 1))
    [ "$unseen" -lt 10 ] || { echo "$command goes on at $instance, but cannot be seen from here" >&2 && exit 1; }
  fi
done

ended() {
  aws ssm get-command-invocation --command-id "$command" --instance-id "$instance" --query "$1" --output text
}
show() {
  text=$(ended "$1")
  [ -z "$text" ] || printf '%s\n' "$text"
}
show StandardOutputContent
show StandardErrorContent >&2
[ "$status" != Success ] || exit 0
code=$(ended ResponseCode)
[ "$code" -gt 0 ] || { ended StatusDetails >&2 && exit 1; }
exit "$code"
