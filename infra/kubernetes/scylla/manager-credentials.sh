#!/usr/bin/env bash
# Gives Scylla Manager the name and password of the database role that infra/kubernetes/jobs/roles creates. Manager reads the schema with
# this role. Without it, Manager cannot back up a database with passwords. Run this script after each change of the password, and after
# Manager was recreated.
set -euo pipefail

usage() {
  echo "usage: bash infra/kubernetes/scylla/manager-credentials.sh [--dry-run] [--password-file FILE]"
  echo
  echo "  --dry-run             prints the commands and runs none"
  echo "  --password-file FILE  password of millrace_manager; default: infra/kubernetes/secrets/files/cql_manager_password"
}

dry_run=
password_file=$(dirname "$0")/../secrets/files/cql_manager_password
while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry_run=1 ;;
    --password-file) password_file=${2:?--password-file needs a file} && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

fail() {
  echo "manager-credentials.sh: $*" >&2
  exit 1
}

manager=(kubectl --namespace scylla-manager exec -i deployment/scylla-manager --)
# sctool accepts a password only as an argument. So the password is visible in the process list of the pod, but not on this machine.
# shellcheck disable=SC2016
update='password=$(cat); exec sctool cluster update -c scylla/millrace --username millrace_manager --password "$password"'

printf '+ %s sh -c %q <%q\n' "${manager[*]}" "$update" "$password_file"
if [ -z "$dry_run" ]; then
  [ -s "$password_file" ] || fail "$password_file must hold the password of the role millrace_manager"
  "${manager[@]}" sh -c "$update" <"$password_file" ||
    fail "Scylla Manager did not take it: it may not know the cluster yet. Wait a moment and run this again"
fi

echo "+ ${manager[*]} sctool cluster list"
[ -z "$dry_run" ] || exit 0
listed=$("${manager[@]}" sctool cluster list </dev/null)
echo "$listed"
case "$(grep scylla/millrace <<<"$listed")" in
  "" | *"not set"*) fail "Scylla Manager has no CQL credentials of scylla/millrace: run this again" ;;
esac
