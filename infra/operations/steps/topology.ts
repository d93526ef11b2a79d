import type { Flag } from '../../../common/flags.ts';
import type { Given } from '../flags.ts';
import { onNode } from '../plan.ts';
import { quote } from './shell.ts';

/** Where the package installs it. */
const CONFIG = { scylla: '/etc/scylla/scylla.yaml', cassandra: '/etc/cassandra/cassandra.yaml' };

export const configFlag = {
  config: { type: 'text', help: "file of a node's settings; default: where its package has it" },
} satisfies Record<string, Flag>;

const configOf = ({ config, engine }: Given) => quote(config ?? CONFIG[engine]);

/** Sets `$id`. @param id host id; undefined: that of the node that runs the command */
const whose = (id: string | undefined) =>
  id ? `id=${quote(id)}` : 'id=$(nodetool info | sed -n "s/^ID *: *//p")';

/**
 * Counts the copies of one row, because all rows of a keyspace have the same number of copies. A row of `nodetool status` ends with the
 * rack. The column of the host id depends on the number of tokens.
 */
const LEFT = `
/^[0-9A-Fa-f.:]+$/ { copy[$1] }
/^Datacenter:/ { dc = $2 }
/^[UD][NLJM] / {
  home[$2] = dc; nodes[dc]++; if (++inRack[dc, $NF] == 1) racks[dc]++
  for (i = 3; i <= NF; i++) if ($i == id) { its = dc; rack = $NF }
}
END {
  for (address in copy) { all++; copies[home[address]]++ }
  if (its == "" || all == 0) { print "There is no node " id ", or no keyspace of this name." >"/dev/stderr"; exit 1 }
  left = nodes[its] - 1
  racksLeft = racks[its] - (inRack[its, rack] == 1)
  printf "%d copies in %s; nodes left there: %d, in %d of %d racks\\n", copies[its], its, left, racksLeft, racks[its]
  if (left >= copies[its] && (racksLeft == racks[its] || racksLeft >= copies[its])) exit 0
  print "That is too few: add a node first, in the same rack where this one is its last, or replace this one." >"/dev/stderr"
  exit 1
}`;

/** Also fails if a rack that the copies need would be lost. @param id host id; default: the node that runs the step */
export const expectEnoughLeft = (viewer: string, { keyspace }: Given, id?: string) =>
  onNode(
    viewer,
    'enough nodes and racks stay for all copies, or this goes no further',
    `${whose(id)}
{ nodetool getendpoints ${quote(keyspace)} installation any; nodetool status; } | awk -v id="$id" '${LEFT}'`,
  );

/** Other nodes need a seed at their next start. @param id host id; default: the node that runs the step */
export const printSeed = (viewer: string, given: Given, id?: string) =>
  onNode(
    viewer,
    'whether it is a seed',
    `${whose(id)}
address=$(nodetool status | awk -v id="$id" '{for (i = 3; i <= NF; i++) if ($i == id) print $2}')
if [ -n "$address" ] && grep -E "^[ -]*seeds:" ${configOf(given)} | grep -qwF "$address"; then
  echo "$address is a seed: name another in its place, in the settings of all nodes, before one of them restarts."
fi`,
  );

/** A node that is its own seed creates a separate cluster, or joins without its share of the data. */
export const expectOtherSeeds = (node: string, given: Given) =>
  onNode(
    node,
    'its seeds are others, or this goes no further',
    `address=$(tr -d "\\"'" <${configOf(given)} | sed -n "s/^listen_address: *\\([^ #]*\\).*/\\1/p")
[ "$address" != localhost ] || address=127.0.0.1
seeds=$(grep -E "^[ -]*seeds:" ${configOf(given)}) || { echo "It has no seeds in ${configOf(given)}; set --config to the file that has them." >&2; exit 1; }
echo "$seeds"
if [ -n "$address" ] && echo "$seeds" | grep -qwF "$address"; then
  echo "It is its own seed, and would not fetch its share: name others." >&2
  exit 1
fi`,
  );

export const printRacks = (viewer: string) =>
  onNode(
    viewer,
    'nodes of each rack: as many in each is what to come to',
    `nodetool status | awk '/^Datacenter:/ {dc = $2} /^[UD][NLJM] / {n[dc " " $NF]++} END {for (rack in n) print rack, n[rack]}'`,
  );
