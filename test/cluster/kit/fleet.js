import { readFile } from 'node:fs/promises';
import { readLedger } from '../../../simulator/ledger/read.js';
import { startSimulator } from '../../support/simulator-process.js';
import { until } from '../../support/until.js';

/** Of 50 devices about 100 messages with 1,250 samples a second: enough to have some of every kind under way at any moment. */
const DEVICES = 50;
const LOAD = ['--interval', '100ms', '--batch', '500ms'];

/** What comes late, shuffled or twice must not matter either. */
const FAULTS = ['--faults', 'late=0.05,disorder=0.1,duplicate=0.02'];

/** A minute's messages wait after the database was away, and the machine may be busy. */
const RECOVERY_MS = 240_000;

/**
 * Simulated devices with a ledger.
 *
 * @param {object} options
 * @param {string} options.broker URL
 * @param {string} options.ledger path
 * @param {number} options.seed
 * @param {number} [options.devices]
 */
export function startFleet({ broker, ledger, seed, devices = DEVICES }) {
  // Plain JSON, so that what passes on a wire is read without any decoder of ours.
  const simulator = startSimulator([
    ...['--broker', broker, '--ledger', ledger, '--seed', String(seed), '--format', 'json'],
    ...['--devices', String(devices)],
    ...LOAD,
    ...FAULTS,
  ]);
  const acknowledged = async () => {
    const lines = await readFile(ledger, 'utf8').catch(() => '');
    return lines.split('{"acknowledged":').length - 1;
  };
  /** A simulator that has ended acknowledges no more: what it said is of more use than waiting in vain. */
  const expectRunning = () => {
    const { exitCode, signalCode } = simulator.child;
    if (exitCode === null && signalCode === null) return;
    throw new Error(
      `The simulator ended with ${signalCode ?? exitCode}:\n${simulator.output().slice(-4000)}`,
    );
  };
  return {
    /** Settles when so many more messages are acknowledged. @param {number} messages */
    async progress(messages) {
      const before = await acknowledged();
      const isThrough = async () => {
        expectRunning();
        return (await acknowledged()) >= before + messages;
      };
      await until(isThrough, { withinMs: 120_000, what: `${messages} more acknowledgements` });
    },

    /**
     * Settles when of every device something is acknowledged that it measured from now on: all have found their way back,
     * and have been rid of what they could not send meanwhile. Before that a message of which a process that was killed had
     * committed a part, its row or `latest`, may not have come again.
     */
    async recovery() {
      const from = Date.now();
      const isThrough = async () => {
        expectRunning();
        return [...(await newestAcknowledged(ledger)).values()].every((ts) => ts >= from);
      };
      await until(isThrough, { withinMs: RECOVERY_MS, what: 'the recovery of every device' });
    },

    /** Lets the devices finish. @returns {Promise<{ made: number, acknowledged: number }>} samples */
    async stop() {
      simulator.child.kill('SIGTERM');
      const { code, output, summary } = await simulator.ended;
      if (code !== 0 || !summary)
        throw new Error(`The simulator ended with ${code}:\n${output.slice(-4000)}`);
      return { made: Number(summary.made), acknowledged: Number(summary.acknowledged) };
    },

    kill: simulator.kill,
  };
}

/** @param {string} path of a ledger @returns {Promise<Map<string, number>>} by device: the time of the newest acknowledged sample */
async function newestAcknowledged(path) {
  /** @type {Map<string, number>} */
  const newest = new Map();
  /** @type {Map<number, { device: string, ts: number }>} */
  const owed = new Map();
  for await (const entry of readLedger(path)) {
    if (entry.kind === 'sent') {
      const ts = Math.max(...entry.series.flatMap(({ times }) => times));
      owed.set(entry.message, { device: entry.device, ts });
      if (!newest.has(entry.device)) newest.set(entry.device, Number.NEGATIVE_INFINITY);
    } else {
      const message = owed.get(entry.message);
      owed.delete(entry.message);
      if (message) newest.set(message.device, Math.max(message.ts, Number(newest.get(message.device))));
    }
  }
  return newest;
}
