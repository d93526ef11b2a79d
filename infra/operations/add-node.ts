import { expectOther, type Given, type Operation } from './flags.ts';
import { onNode } from './plan.ts';
import { awaitAllUp, awaitServing, expectAllUp } from './steps/nodes.ts';
import { expectMachine, SERVICE } from './steps/service.ts';
import { command } from './steps/shell.ts';
import { configFlag, expectOtherSeeds, printRacks } from './steps/topology.ts';

export const addNode = {
  help: 'starts one more node, which fetches its share, then takes that share from the others',
  examples: ['--nodes a,b,c --node d --dry-run'],
  shared: ['engine', 'nodes', 'reach', 'keyspace', 'start'],
  flags: {
    node: {
      type: 'text',
      help: 'the new one: installed and configured, never started; --nodes are the others',
    },
    ...configFlag,
    within: {
      type: 'duration',
      help: 'how long it may take to fetch its share',
      fallback: 24 * 3_600_000,
      min: 1000,
    },
  },
  plan(given) {
    const [nodes, node] = [given.need('nodes'), given.need('node')];
    const [first] = nodes;
    expectOther(given);
    expectMachine(
      given.reach,
      'in Kubernetes raise `members` of a rack; in compose add a service, and `docker compose up -d` it.',
    );
    const { start } = given.commands({ start: SERVICE[given.engine].start });
    return [
      expectAllUp(first, nodes.length),
      expectOtherSeeds(node, given),
      onNode(node, 'starts, and fetches its share', start),
      awaitServing(node, given.within),
      awaitAllUp(first, nodes.length + 1, given.within),
      ...cleanUps(given),
      printRacks(first),
    ];
  },
} satisfies Operation;

/**
 * Until a cleanup, the old nodes keep rows of token ranges that they have lost. At the next change of the ring, such rows could come back.
 * ScyllaDB cleans up tables with tablets by itself, and one command cleans up all other tables on all nodes.
 */
const cleanUps = ({ engine, keyspace, need }: Given) => {
  const nodes = need('nodes');
  const what = 'gives up what is no longer its own';
  return engine === 'scylla'
    ? [onNode(nodes[0], `every node ${what}`, 'nodetool cluster cleanup')]
    : nodes.map((node) => onNode(node, what, command('nodetool', 'cleanup', keyspace)));
};
