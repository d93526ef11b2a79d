import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Cluster } from '../../infra/engine/cluster.ts';
import { Drill, type Outcome } from './drill.ts';
import { compareKafka } from './kafka.ts';
import { drawTimeline } from './timeline.ts';
import { startWorld } from './world.ts';

/** A run with more kills consists of several drills, so that the ledger of each fits in memory and a failure has a short timeline. */
const KILLS_EACH = 50;

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/**
 * Runs drills with the seeds `seed`, `seed + 1` and so on, until they had the kills, and compares Kafka at the end. It ends after the first
 * drill with a problem, and then draws its timeline.
 * @returns whether nothing was lost, doubled or wrong
 */
export async function runChaos({
  cluster,
  directory,
  timelines,
  seed,
  kills,
  minutes = Number.POSITIVE_INFINITY,
  afterwards,
  showStatus,
  print,
}: {
  /** with all nodes up */
  cluster: Cluster;
  /** for ledgers */
  directory: string;
  /** folder of the timelines of drills with problems */
  timelines: string;
  seed: number;
  kills: number;
  /** after this time no further fault begins */
  minutes?: number;
  afterwards: (cleanUp: () => unknown) => void;
  showStatus: (text: string) => void;
  print: (text: string) => void;
}): Promise<{ isGood: boolean; outcomes: Outcome[] }> {
  const world = await startWorld({ directory, cluster, afterwards });
  const deadline = Date.now() + minutes * 60_000;
  const outcomes: Outcome[] = [];
  const ledgers = [];
  print(HEADER);
  for (let left = kills, number = 0; left > 0 && Date.now() < deadline; number++, left -= KILLS_EACH) {
    const drill = new Drill(world, { seed: seed + number, kills: Math.min(left, KILLS_EACH) });
    const show = setInterval(() => {
      if (Date.now() > deadline) drill.stop();
      showStatus(statusOf([...outcomes, drill.outcome], kills));
    }, 1000);
    const outcome = await drill.run(`d${number}`).finally(() => clearInterval(show));
    outcomes.push(outcome);
    ledgers.push(...drill.ledgers);
    print(rowOf(outcome));
    if (isGood(outcome)) continue;
    print(await explain(outcome, timelines));
    return { isGood: false, outcomes };
  }
  showStatus('The topics of Kafka are completed and compared');
  const differing = await compareKafka(world, ledgers);
  print(differing.length > 0 ? differing.join('\n') : 'Kafka has every acknowledged sample.');
  return { isGood: differing.length === 0, outcomes };
}

const isGood = ({ problems, errors }: Outcome) => problems.length === 0 && errors.length === 0;

const killsOf = ({ faults }: Outcome) => faults.filter(({ kind }) => kind === 'kill').length;

const countOf = ({ problems }: Outcome, kind: string) => problems.filter((one) => one.kind === kind).length;

function statusOf(outcomes: Outcome[], kills: number) {
  const sum = (count: (outcome: Outcome) => number) =>
    whole.format(outcomes.reduce((total, outcome) => total + count(outcome), 0));
  return (
    `${sum(killsOf)} of ${kills} kills, ${sum(({ acknowledged }) => acknowledged)} samples acknowledged, ` +
    `${sum(({ checked }) => checked)} read, ${sum((outcome) => countOf(outcome, 'lost'))} lost`
  );
}

const COLUMNS =
  'seed kills faults acknowledged read lost doubled wrong alarms recovery_median recovery_max minutes'.split(
    ' ',
  );
const rowText = (cells: string[]) =>
  cells.map((cell, column) => cell.padStart(Math.max(8, String(COLUMNS[column]).length))).join('  ');
const HEADER = rowText(COLUMNS);

/** The time to recover is that of the kills, in s: until all devices have samples acknowledged that they measured after the kill. */
function rowOf(outcome: Outcome) {
  const { seed, faults, acknowledged, checked, begun, ended } = outcome;
  const recoveries = faults
    .filter(({ kind }) => kind === 'kill')
    .map(({ from, recovered }) => ((recovered ?? ended) - from) / 1000)
    .sort((a, b) => a - b);
  const others = faults.length - killsOf(outcome);
  const counts = [seed, killsOf(outcome), others, acknowledged, checked];
  const seconds = [recoveries[recoveries.length >> 1], recoveries.at(-1)].map((one) => (one ?? 0).toFixed(1));
  const problems = ['lost', 'doubled', 'wrong', 'alarm'].map((kind) => countOf(outcome, kind));
  const minutes = ((ended - begun) / 60_000).toFixed(1);
  return rowText([...[...counts, ...problems].map((one) => whole.format(one)), ...seconds, minutes]);
}

async function explain(outcome: Outcome, timelines: string) {
  const { seed, kills, problems, errors } = outcome;
  await mkdir(timelines, { recursive: true });
  const path = join(timelines, `chaos-${seed}.svg`);
  await writeFile(path, drawTimeline(outcome));
  const found = problems.map(
    ({ kind, where, device, sensor, ts, message }) =>
      `${kind} in ${where}: ${device}/${sensor} ${new Date(ts).toISOString()}: ${message}`,
  );
  return [
    ...found.slice(0, 20),
    ...errors,
    `Timeline: ${path}`,
    `The same faults again: npm run chaos -- --kills ${kills} --seed ${seed}`,
  ].join('\n');
}
