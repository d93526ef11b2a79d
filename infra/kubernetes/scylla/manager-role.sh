#!/usr/bin/env bash
# Lets Scylla Manager back up the schema: makes it a role in ScyllaDB, and tells it name and password. Without one every backup of a
# database with passwords fails. The role has no rights: none is needed to describe the schema, and it may read no data.
#
# Nothing keeps the password but Manager. Run again, it makes another.
set -euo pipefail

usage() {
  echo "usage: bash infra/kubernetes/scylla/manager-role.sh [--dry-run] [--admin-password-file FILE]"
  echo
  echo "  --dry-run                   prints the commands, and does nothing"
  echo "  --admin-password-file FILE  of the superuser millrace; default: infra/kubernetes/secrets/files/cql_password"
}

dry_run=
admin_password_file=$(dirname "$0")/../secrets/files/cql_password
while [ $# -gt 0 ]; do
  case "$1" in
    --dry-run) dry_run=1 ;;
    --admin-password-file) admin_password_file=${2:?--admin-password-file needs a file} && shift ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
  shift
done

fail() {
  echo "manager-role.sh: $*" >&2
  exit 1
}

# with NAMES SECRETS COMMAND...: prints the command, NAMES in the place of the secrets that it is given as lines; runs it unless --dry-run
with() {
  local names=$1 secrets=$2
  shift 2
  printf '+ '
  [ -z "$names" ] || printf "printf '%%s\\\\n' %s | " "$names"
  printf '%q ' "$@" && echo
  [ -z "$dry_run" ] || return 0
  # Who reads nothing is given nothing: what is left in a pipe would be a failure.
  if [ -z "$secrets" ]; then "$@" </dev/null; else printf '%s\n' "$secrets" | "$@"; fi
}

# Both run in a pod, and read passwords where nobody sees them; sctool alone takes one on its command line, in its own pod.
# shellcheck disable=SC2016
make_role='set -eu; umask 077; here=$(mktemp -d); trap "rm -rf $here" EXIT; read -r admin; read -r password
printf "[authentication]\nusername = millrace\npassword = %s\n" "$admin" >$here/cqlshrc
printf "CREATE ROLE IF NOT EXISTS scylla_manager WITH LOGIN = true AND SUPERUSER = false;\n" >$here/role.cql
printf "ALTER ROLE scylla_manager WITH PASSWORD = '\''%s'\'' AND LOGIN = true AND SUPERUSER = false;\n" "$password" >>$here/role.cql
cqlsh --cqlshrc=$here/cqlshrc -f $here/role.cql'
# shellcheck disable=SC2016
tell_manager='read -r password; exec sctool cluster update -c scylla/millrace --username scylla_manager --password "$password"'

admin=
password=
if [ -z "$dry_run" ]; then
  admin=$(cat "$admin_password_file") || fail "$admin_password_file must hold the password of the superuser millrace"
  password=$(openssl rand -hex 24)
fi
manager=(kubectl --namespace scylla-manager exec -i deployment/scylla-manager --)

with 'ADMIN_PASSWORD NEW_PASSWORD' "$admin"$'\n'"$password" \
  kubectl --namespace scylla exec -i service/millrace-client --container scylla -- sh -c "$make_role" ||
  fail "the role scylla_manager was not made: is the ScyllaCluster available, and is that the superuser's password?"
with NEW_PASSWORD "$password" "${manager[@]}" sh -c "$tell_manager" ||
  fail "Scylla Manager did not take it; it knows the cluster soon after that is available: run this again"

listed=$(with '' '' "${manager[@]}" sctool cluster list)
echo "$listed"
if [ -z "$dry_run" ]; then
  case "$(grep scylla/millrace <<<"$listed")" in
    "" | *"not set"*) fail "Scylla Manager has no CQL credentials of scylla/millrace: run this again" ;;
  esac
fi
