import { MillraceError } from '../../common/errors.ts';
import { expectOther, type Given, type Operation } from './flags.ts';
import { onNode } from './plan.ts';
import { awaitAllUp, expectAllUp } from './steps/nodes.ts';
import { repairAll } from './steps/repair.ts';
import { SERVICE } from './steps/service.ts';
import { command } from './steps/shell.ts';
import { configFlag, expectEnoughLeft, printSeed } from './steps/topology.ts';

export const removeNode = {
  help: 'hands the share of a node to the others, and takes it away; or gives up one that is dead',
  examples: ['--nodes a,b --node c --dry-run', '--nodes a,b --dead 8a0d2f4e-1111-4222-8333-444455556666'],
  shared: ['engine', 'cluster', 'nodes', 'reach', 'keyspace', 'tag', 'stop', 'within'],
  flags: {
    node: { type: 'text', help: 'the one to go; --nodes are those that stay' },
    dead: { type: 'text', help: 'instead: host id, of nodetool status, of one that never comes back' },
    ...configFlag,
  },
  plan(given) {
    if (Boolean(given.node) === Boolean(given.dead))
      throw new MillraceError('usage', 'remove-node takes either --node or --dead');
    return given.dead ? buried(given) : retired(given);
  },
} satisfies Operation;

/** The node first sends its data to the other nodes. */
function retired(given: Given) {
  const [nodes, node] = [given.need('nodes'), given.need('node')];
  const [first] = nodes;
  expectOther(given);
  const { stop } = given.commands({ stop: SERVICE[given.engine].stop });
  return [
    expectAllUp(first, nodes.length + 1),
    expectEnoughLeft(node, given),
    printSeed(node, given),
    onNode(node, 'sends its share to the others, and leaves', 'nodetool decommission'),
    awaitAllUp(first, nodes.length, given.within),
    onNode(node, 'stops', stop),
  ];
}

/**
 * The other nodes copy the data of the dead node from each other. The last writes to the dead node may be missing on some nodes, so a
 * repair follows.
 */
function buried(given: Given) {
  const nodes = given.need('nodes');
  const [[first], dead] = [nodes, given.need('dead')];
  return [
    expectEnoughLeft(first, given, dead),
    printSeed(first, given, dead),
    onNode(first, 'the others make copies of what it had', command('nodetool', 'removenode', dead)),
    awaitAllUp(first, nodes.length, given.within),
    ...repairAll(given),
  ];
}
