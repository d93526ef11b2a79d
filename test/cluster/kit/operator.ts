import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import type { Cluster } from '../../../infra/engine/cluster.ts';
import type { Member } from '../../../infra/engine/member.ts';
import { listening } from '../../support/http/listening.ts';
import { run } from '../../support/operations/run.ts';

/** The time limit of an operation: on a busy machine a node needs minutes to restart. */
const OPERATION_MS = 600_000;

const quote = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** The name of a node in an operation. */
export const nodeName = ({ name }: Member): string => name.replace(' ', '-');

/**
 * Runs the scripts of infra/operations on this cluster. The shell of a node is a local one, in the directory of that node. It has
 * two programs of its own. One is `nodetool`. The other is `member`, in place of systemctl: it asks the process that runs
 * the nodes.
 */
export async function createOperator({
  directory,
  cluster,
  settings,
}: {
  /** holds the cluster in its folder `cluster` */
  directory: string;
  cluster: Cluster;
  /** of the application */
  settings: Record<string, string>;
}) {
  const folder = join(directory, 'operator');
  const server = createServer(async ({ url = '' }, response) => {
    const [, verb, name] = url.split('/');
    const member = cluster.nodes.find((node) => nodeName(node) === name);
    try {
      if (!member) throw new Error(`no node is called ${name}`);
      if (verb === 'stop') await member.stop();
      else await member.start();
      equip(member);
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  const port = await listening(server);

  /** Gives a node its programs. */
  function equip(member: Member) {
    const programs = join(folder, nodeName(member));
    mkdirSync(programs, { recursive: true });
    const ask = `const answer = await fetch('http://127.0.0.1:${port}/' + process.argv[1] + '/${nodeName(member)}');
if (!answer.ok) throw new Error(await answer.text());`;
    program(join(programs, 'nodetool'), member.nodetoolCommand);
    program(join(programs, 'member'), [process.execPath, '--input-type=module', '-e', ask]);
  }

  for (const member of cluster.nodes) equip(member);
  const reach = join(folder, 'reach.sh');
  writeFileSync(
    reach,
    `cd "${directory}/cluster/$1/cassandra" || cd "${directory}"\nPATH="${folder}/$1:$PATH" exec sh -c "$2"\n`,
  );

  return {
    equip,

    /** @param script in infra/operations, for all nodes @throws {Error} with its output, when it fails */
    async operate(script: string, variables: Record<string, string>) {
      const access = { REACH: `sh ${reach}`, STOP: 'member stop', START: 'member start' };
      const { code, out, errors } = await run(
        'sh',
        [`infra/operations/${script}`, ...cluster.nodes.map(nodeName)],
        { ...process.env, ...settings, KEYSPACE: settings['CQL_KEYSPACE'], ...access, ...variables },
        OPERATION_MS,
      );
      if (code !== 0) throw new Error(out + errors);
    },

    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}

function program(path: string, words: string[]) {
  writeFileSync(path, `#!/bin/sh\nexec ${words.map(quote).join(' ')} "$@"\n`);
  chmodSync(path, 0o755);
}
