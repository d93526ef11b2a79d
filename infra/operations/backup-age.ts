import { here, onNode } from './plan.js';
import { sctool } from './steps/manager.js';
import { medusa, storesTo } from './steps/medusa.js';
import { command } from './steps/shell.js';

/** @import { Given } from './flags.js' */
/** @import { Step } from './plan.js' */

/** @param {Given} given @returns {Step[]} steps that fail if the last backup is too old, or cannot be restored */
export const checked = (given) => (given.engine === 'scylla' ? ofManager(given) : ofMedusa(given));

/** @param {string} message @returns {string} the end of a list of commands: prints the message and fails if the command before it failed */
const otherwise = (message) => `|| { ${command('echo', message)} >&2; exit 1; }`;

/** @param {Given} given @returns {number} maximum age of the last backup, in s */
const most = ({ within }) => Math.round(within / 1000);

/** @param {Given} given @returns {Step[]} */
function ofManager(given) {
  const [cluster, location] = [given.need('cluster'), given.need('location')];
  const listed = sctool('backup', 'list', '-c', cluster, '-L', location);
  return [
    here(
      'the last backup is young enough, and has the schema',
      `tag=$(${listed} | sed -n 's/.*\\(sm_[0-9]\\{14\\}UTC\\).*/\\1/p' | sort | tail -n 1)
echo "the last one: \${tag:-none}"
since=$(date -u -d "@$(($(date +%s) - ${most(given)}))" +%Y%m%d%H%M%S)
test "$(echo "0$tag" | tr -dc 0-9)" -ge "$since" ${otherwise('That is too old.')}
${hasSchema(given)}`,
    ),
  ];
}

/**
 * Returns a command that checks the snapshot `$tag`. Manager reads the schema by CQL. Without the schema, nobody can restore the data.
 *
 * @param {Given} given
 * @returns {string} the command, which fails if there is no snapshot, or if the snapshot has no schema
 */
export function hasSchema({ cluster, location, keyspace }) {
  const files = sctool('backup', 'files', '-c', cluster, '-L', location, '-K', keyspace);
  const message = 'There is no schema in it: Manager needs a role of the database (sctool cluster update).';
  return `test -n "$tag" && ${files} -T "$tag" | grep -q schema_with_internals ${otherwise(message)}`;
}

/** @param {Given} given @returns {Step[]} */
function ofMedusa(given) {
  const nodes = given.need('nodes');
  return [
    ...storesTo(nodes, given.need('location')),
    onNode(
      nodes[0],
      'the last backup that is complete is young enough',
      `age=$(${medusa('report-last-backup')} 2>&1 | sed -n 's/.*- Finished: \\([0-9][0-9]*\\) seconds ago.*/\\1/p')
echo "the last one is \${age:-no} seconds old"
test "\${age:-${most(given)}}" -lt ${most(given)} ${otherwise('That is too old.')}`,
    ),
  ];
}
