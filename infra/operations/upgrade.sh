#!/bin/sh
# Upgrades a cluster node by node, so that three replicas refuse no request at LOCAL_QUORUM. After a failure, fix the cause and run it
# again. It then also restarts the nodes that are already upgraded, which does no harm.
set -eu
case "${1:---help}" in
  --help)
    cat <<'END' && exit
usage: TO=VERSION sh infra/operations/upgrade.sh NODE... (all nodes of the cluster)

Environment:
  TO           the version, such as 5.0.10
  ENGINE       cassandra (default) or scylla
  KEYSPACE     each node first takes its snapshot before-VERSION (default: iot)
  REACH        program that takes a node and a script (default: ssh)
  STOP, START  commands on a node (default: by systemctl)
  INSTALL      command that installs the version on a stopped node (default: by apt, which fetches it before and pins it)
END
    ;;
esac
# shellcheck source-path=SCRIPTDIR source=nodes.sh
. "$(dirname "$0")/nodes.sh"
: "${TO:?name the version}"

case ${ENGINE:=cassandra} in
  # scylla --version would print the installed version instead of that of the running process.
  scylla)
    service=scylla-server version="$TO-*"
    running='curl -fsS http://localhost:10000/storage_service/scylla_release_version | tr -d "\""'
    ;;
  cassandra) service=cassandra version=$TO running='nodetool version | sed -n "s/^ReleaseVersion: *//p"' ;;
  *) echo "ENGINE is cassandra or scylla" >&2 && exit 2 ;;
esac
# The options keep configuration files that the operator has changed. The packages of a database depend on each other in the same version,
# but apt takes the newest of each, so all are pinned.
apt='sudo env DEBIAN_FRONTEND=noninteractive apt-get -y -o Dpkg::Options::=--force-confold'
fetch=true
if [ -z "${INSTALL:-}" ]; then
  INSTALL="$apt install '$ENGINE=$version'"
  fetch="printf '%s\\n' 'Package: $ENGINE*' 'Pin: version $version' 'Pin-Priority: 990' |
  sudo tee /etc/apt/preferences.d/millrace >/dev/null && sudo apt-get update && $apt --download-only install '$ENGINE=$version'"
fi

for node in "$@"; do on "$node" "fetches $TO" "$fetch"; done
for node in "$@"; do
  on "$node" "checks that all $# nodes are up" "$(all_up $#)"
  on "$node" 'takes a snapshot' "nodetool snapshot -t $(quoted "before-$TO") $(quoted "${KEYSPACE:-iot}")"
  on "$node" 'refuses requests, and flushes its memory to the disk' 'nodetool drain'
  on "$node" 'stops' "${STOP:-sudo systemctl stop $service}"
  on "$node" 'installs' "$INSTALL"
  on "$node" 'starts' "${START:-sudo systemctl start $service}"
  eventually "$node" 'waits until it serves clients' \
    'nodetool info 2>/dev/null | grep -Eq "^Native Transport active *: *true"'
  for other in "$@"; do eventually "$other" "sees $# nodes, all up" "$(all_up $#)"; done
  on "$node" "checks that it runs $TO" \
    "now=\$($running); echo \"\$now\"; case \$now in $(quoted "$TO") | $(quoted "$TO")-*) ;; *) exit 1 ;; esac"
done
# Unreachable nodes are ignored, because a node that has left the cluster is listed for days.
eventually "$1" 'all nodes have one schema' "nodetool describecluster | awk '/Schema versions:/ {on = 1; next}
  /^[^\\t]/ {on = 0} /UNREACHABLE/ {next} on && /: \\[/ {n++} END {exit n != 1}'"
echo "All nodes run $TO. When you no longer need the snapshots: nodetool clearsnapshot -t before-$TO"
