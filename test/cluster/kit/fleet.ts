import { startSimulator } from '../../support/processes/simulator-process.ts';
import { until } from '../../support/until.ts';
import { LedgerIndex } from './ledger-index.ts';

/** 50 devices send about 100 messages with 1,250 samples a second. Messages are in flight in every stage at any moment. */
const DEVICES = 50;
const INTERVAL = '100ms';

/** Late, disordered and duplicate messages must not matter. */
const FAULTS = 'late=0.05,disorder=0.1,duplicate=0.02';
/** As many as a sensor can have. */
const EPISODES = ',episodes=10000';

/** After a database outage the messages of a minute wait, and the machine may be busy. */
const RECOVERY_MS = 240_000;

/** Simulated devices with a ledger. */
export function startFleet({
  broker,
  ledger,
  seed,
  devices = DEVICES,
  prefix = 'collar',
  interval = INTERVAL,
  hasEpisodes = false,
}: {
  /** URL */
  broker: string;
  /** path */
  ledger: string;
  seed: number;
  devices?: number;
  /** of the names of the devices */
  prefix?: string;
  /** between two measurements; a message of a device has those of half a second */
  interval?: string;
  /** alarms, which the ledger lists */
  hasEpisodes?: boolean;
}) {
  // Plain JSON lets the wire be read without a decoder of this repository.
  const simulator = startSimulator([
    ...['--broker', broker, '--ledger', ledger, '--seed', String(seed), '--format', 'json'],
    ...['--devices', String(devices), '--device', prefix],
    ...['--interval', interval, '--batch', '500ms'],
    ...['--faults', FAULTS + (hasEpisodes ? EPISODES : '')],
  ]);
  const index = new LedgerIndex(ledger);
  /** A simulator that has ended acknowledges nothing more. Its output explains the failure better than a timeout. */
  const expectRunning = () => {
    const { exitCode, signalCode } = simulator.child;
    if (exitCode === null && signalCode === null) return;
    throw new Error(
      `The simulator ended with ${signalCode ?? exitCode}:\n${simulator.output().slice(-4000)}`,
    );
  };
  const isReached = (condition: () => boolean) => async () => {
    expectRunning();
    await index.advance();
    return condition();
  };
  return {
    index,

    /** Settles when that number of further messages is acknowledged. */
    async progress(messages: number) {
      await index.advance();
      const wanted = index.counts.messages + messages;
      await until(
        isReached(() => index.counts.messages >= wanted),
        { withinMs: 120_000, what: `${messages} more acknowledgements` },
      );
    },

    /**
     * Settles when every device has an acknowledged sample that it measured after this call. Then all devices are connected
     * again, and have sent their backlog. Before that, a message may be stored in part, as its row or in `latest` only: its
     * process was killed, and the broker has not delivered it again yet.
     */
    async recovery() {
      const from = Date.now();
      await until(
        isReached(() => index.hasRecovered(from)),
        { withinMs: RECOVERY_MS, what: 'the recovery of every device' },
      );
    },

    /** Lets the devices finish. @returns samples */
    async stop(): Promise<{ made: number; acknowledged: number }> {
      simulator.child.kill('SIGTERM');
      const { code, output, summary } = await simulator.ended;
      if (code !== 0 || !summary)
        throw new Error(`The simulator ended with ${code}:\n${output.slice(-4000)}`);
      return { made: Number(summary.made), acknowledged: Number(summary.acknowledged) };
    },

    async kill() {
      await simulator.kill();
      await index.close();
    },
  };
}

export type Fleet = ReturnType<typeof startFleet>;
