import type { Given } from './flags.ts';
import { here, onNode, type Step } from './plan.ts';
import { sctool } from './steps/manager.ts';
import { medusa, storesTo } from './steps/medusa.ts';
import { command } from './steps/shell.ts';

/** Fails if the last backup is too old, or cannot be restored. */
export const checked = (given: Given): Step[] =>
  given.engine === 'scylla' ? ofManager(given) : ofMedusa(given);

const otherwise = (message: string): string => `|| { ${command('echo', message)} >&2; exit 1; }`;

/** s */
const most = ({ within }: Given): number => Math.round(within / 1000);

function ofManager(given: Given): Step[] {
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

/** Manager reads the schema by CQL. Without the schema, nobody can restore the data. */
export function hasSchema({ need, keyspace }: Given): string {
  const where = ['-c', need('cluster'), '-L', need('location')];
  const files = sctool('backup', 'files', ...where, '-K', keyspace);
  const message = 'There is no schema in it: Manager needs a role of the database (sctool cluster update).';
  return `test -n "$tag" && ${files} -T "$tag" | grep -q schema_with_internals ${otherwise(message)}`;
}

function ofMedusa(given: Given): Step[] {
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
