#!/bin/sh
# Restores a snapshot of Cassandra from the disks of its nodes, into its keyspace or into another. The snapshots of a quorum have
# every sample that was acknowledged before, so no repair has to follow. Existing rows stay, because samples are only added.
set -eu
case "${1:---help}" in
  --help)
    cat <<'END' && exit
usage: TAG=SNAPSHOT sh infra/operations/restore-snapshot.sh NODE... (all nodes of the cluster)

Environment, with the settings of the database (CQL_CONTACT_POINTS, ...):
  TAG       name of the snapshot
  KEYSPACE  of the snapshot (default: iot)
  INTO      keyspace to restore into; made where it is missing (default: that of the snapshot)
  DATA      data directory of the nodes (default: /var/lib/cassandra/data)
  REACH     program that takes a node and a script (default: ssh)
END
    ;;
esac
# shellcheck source-path=SCRIPTDIR source=nodes.sh
. "$(dirname "$0")/nodes.sh"
: "${TAG:?name the snapshot}" "${KEYSPACE:=iot}" "${INTO:=$KEYSPACE}" "${DATA:=/var/lib/cassandra/data}"

# During a restore, a running packer would mark hours as packed before their samples are restored, and this mark is permanent.
CQL_KEYSPACE=$INTO node infra/operations/expect-stopped.ts
CQL_KEYSPACE=$INTO npm run -s migrate
for node in "$@"; do
  on "$node" "reads its snapshot $TAG, table by table" "set -e
folder=$(quoted "$DATA/$KEYSPACE") tag=$(quoted "$TAG") found=0
for snapshot in \"\$folder\"/*/snapshots/\"\$tag\"; do
  set -- \"\$snapshot\"/*-Data.db
  [ -e \"\$1\" ] || continue
  table=\${snapshot#\"\$folder\"/}
  table=\${table%%-*}
  echo \"\$table\"
  nodetool import --copy-data $(quoted "$INTO") \"\$table\" \"\$snapshot\"
  found=\$((found + 1))
done
[ \"\$found\" -gt 0 ] || { echo \"No snapshot \$tag below \$folder has data.\" >&2; exit 1; }"
done
