#!/usr/bin/env bash
# Tells Scylla Manager the role by which it reads the schema, and which infra/kubernetes/jobs/roles has made: the operator tells it none.
# A database with passwords is not backed up without. Run it again after a new password, or where Manager was made anew.
set -euo pipefail

usage() {
  echo "usage: bash infra/kubernetes/scylla/manager-credentials.sh [--dry-run] [--password-file FILE]"
  echo
  echo "  --dry-run             prints the commands, and does nothing"
  echo "  --password-file FILE  of the role millrace_manager; default: infra/kubernetes/secrets/files/cql_manager_password"
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
# sctool takes a password on its command line and no other way: so on that of its own pod, and on none here.
# shellcheck disable=SC2016
tell='password=$(cat); exec sctool cluster update -c scylla/millrace --username millrace_manager --password "$password"'

printf '+ %s sh -c %q <%q\n' "${manager[*]}" "$tell" "$password_file"
if [ -z "$dry_run" ]; then
  [ -s "$password_file" ] || fail "$password_file must hold the password of the role millrace_manager"
  "${manager[@]}" sh -c "$tell" <"$password_file" ||
    fail "Scylla Manager did not take it; it knows the cluster soon after that is available: run this again"
fi

echo "+ ${manager[*]} sctool cluster list"
[ -z "$dry_run" ] || exit 0
listed=$("${manager[@]}" sctool cluster list </dev/null)
echo "$listed"
case "$(grep scylla/millrace <<<"$listed")" in
  "" | *"not set"*) fail "Scylla Manager has no CQL credentials of scylla/millrace: run this again" ;;
esac
