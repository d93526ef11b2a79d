import { readFile } from 'node:fs/promises';
import { readLedger } from '../../../simulator/ledger/read.ts';
import { startSimulator } from '../../support/processes/simulator-process.ts';
import { until } from '../../support/until.ts';

/** 50 devices send about 100 messages with 1,250 samples a second. Messages are in flight in every stage at any moment. */
const DEVICES = 50;
const LOAD = ['--interval', '100ms', '--batch', '500ms'];

/** Late, disordered and duplicate messages must not matter. */
const FAULTS = ['--faults', 'late=0.05,disorder=0.1,duplicate=0.02'];

/** After a database outage the messages of a minute wait, and the machine may be busy. */
const RECOVERY_MS = 240_000;

/** Simulated devices with a ledger. */
export function startFleet({
  broker,
  ledger,
  seed,
  devices = DEVICES,
  prefix = 'collar',
}: {
  /** URL */
  broker: string;
  /** path */
  ledger: string;
  seed: number;
  devices?: number;
  /** of the names of the devices */
  prefix?: string;
}) {
  // Plain JSON lets the wire be read without a decoder of this repository.
  const simulator = startSimulator([
    ...['--broker', broker, '--ledger', ledger, '--seed', String(seed), '--format', 'json'],
    ...['--devices', String(devices), '--device', prefix],
    ...LOAD,
    ...FAULTS,
  ]);
  const acknowledged = async () => {
    const lines = await readFile(ledger, 'utf8').catch(() => '');
    return lines.split('{"acknowledged":').length - 1;
  };
  /** A simulator that has ended acknowledges nothing more. Its output explains the failure better than a timeout. */
  const expectRunning = () => {
    const { exitCode, signalCode } = simulator.child;
    if (exitCode === null && signalCode === null) return;
    throw new Error(
      `The simulator ended with ${signalCode ?? exitCode}:\n${simulator.output().slice(-4000)}`,
    );
  };
  return {
    /** Settles when that number of further messages is acknowledged. */
    async progress(messages: number) {
      const before = await acknowledged();
      const isReached = async () => {
        expectRunning();
        return (await acknowledged()) >= before + messages;
      };
      await until(isReached, { withinMs: 120_000, what: `${messages} more acknowledgements` });
    },

    /**
     * Settles when every device has an acknowledged sample that it measured after this call. Then all devices are connected
     * again, and have sent their backlog. Before that, a message may be stored in part, as its row or in `latest` only: its
     * process was killed, and the broker has not delivered it again yet.
     */
    async recovery() {
      const from = Date.now();
      const isReached = async () => {
        expectRunning();
        return [...(await newestAcknowledged(ledger)).values()].every((ts) => ts >= from);
      };
      await until(isReached, { withinMs: RECOVERY_MS, what: 'the recovery of every device' });
    },

    /** Lets the devices finish. @returns samples */
    async stop(): Promise<{ made: number; acknowledged: number }> {
      simulator.child.kill('SIGTERM');
      const { code, output, summary } = await simulator.ended;
      if (code !== 0 || !summary)
        throw new Error(`The simulator ended with ${code}:\n${output.slice(-4000)}`);
      return { made: Number(summary.made), acknowledged: Number(summary.acknowledged) };
    },

    kill: simulator.kill,
  };
}

async function newestAcknowledged(path: string): Promise<Map<string, number>> {
  const newest: Map<string, number> = new Map();
  const unacknowledged: Map<number, { device: string; ts: number }> = new Map();
  for await (const entry of readLedger(path)) {
    if (entry.kind === 'sent') {
      const ts = Math.max(...entry.series.flatMap(({ times }) => times));
      unacknowledged.set(entry.message, { device: entry.device, ts });
      if (!newest.has(entry.device)) newest.set(entry.device, Number.NEGATIVE_INFINITY);
    } else if (entry.kind === 'acknowledged') {
      const message = unacknowledged.get(entry.message);
      unacknowledged.delete(entry.message);
      if (message) newest.set(message.device, Math.max(message.ts, Number(newest.get(message.device))));
    }
  }
  return newest;
}
