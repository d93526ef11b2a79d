import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../../../schema/rules.js';
import { deviceName, sensorName, tagOf } from '../load/payloads.js';
import { loadOf, samplesOf } from '../load/shapes.js';
import { visitStored } from '../measure/stored.js';
import { FIRST_DEVICE, Ledger, publishByLedger } from './ledger.js';
import { openOurs, openPeer } from './pipelines.js';
import { KNOWN_TUNING } from './settings.js';

/** @import { Environment } from '../environment/index.js' */
/** @import { PeerDatabase } from './database.js' */
/** @import { Programs } from './tools.js' */

/** The load: few devices, so that all samples can be read back quickly. */
const LOAD = loadOf('1x10', 100);
const MESSAGES_PER_SECOND = 2000;

/** Time between the kill and the restart of the victim, in ms. */
const AWAY_MS = 1000;

/**
 * Missing samples are read again after LOOK_MS. They are lost if none of them arrives for LOST_AFTER_MS. This time is longer than
 * Telegraf waits for an answer of a killed database (`timeout` in settings.js). Until then Telegraf sends nothing.
 */
const LOOK_MS = 1000;
const LOST_AFTER_MS = 20_000;

/** A process that can be killed and started again. @typedef {{ kill: () => Promise<unknown>, start: () => Promise<unknown> }} Victim */

/**
 * @typedef {object} Target
 * @property {string} url of the broker
 * @property {'senml' | 'lines'} format
 * @property {Victim} consumer the process that reads from the broker
 * @property {Record<string, Victim>} victims processes by name
 * @property {(from: number) => Promise<Array<[sensor: string, time: number]>>} samples returns the samples stored since `from`,
 *   epoch ms
 */

/** Numbers of samples after a kill. @typedef {{ victim: string, acknowledged: number, missing: number }} Kill */

/**
 * Kills each victim in the middle of a run. A ledger counts the samples that the broker acknowledged to the publisher but that
 * are not stored.
 *
 * @param {Target} target
 * @param {{ victims: string[], forMs: number, status: (text: string) => void }} options `forMs`: load before the kill, and again
 *   after the restart
 * @returns {Promise<Kill[]>}
 */
export async function killEach(target, { victims, forMs, status }) {
  const kills = [];
  const shape = { ...LOAD, format: target.format };
  for (const victim of victims) {
    const part = /** @type {Victim} */ (target.victims[victim]);
    // Each kill starts with a new consumer. After some kills of Mosquitto, Telegraf receives no more messages. That would count
    // for the next kill too.
    await target.consumer.kill();
    await target.consumer.start();
    status(`kill -9 of ${victim}`);
    const from = Date.now();
    const ledger = new Ledger(shape);
    const end = await publishByLedger({ url: target.url, shape, rate: MESSAGES_PER_SECOND, ledger });
    await sleep(forMs);
    await part.kill();
    await sleep(AWAY_MS);
    await part.start();
    await sleep(forMs);
    await end();
    status(`kill -9 of ${victim}: comparing with the database`);
    const missing = await settledMissing(ledger, () => target.samples(from));
    kills.push({ victim, acknowledged: ledger.acknowledged, missing });
  }
  return kills;
}

/** @param {Ledger} ledger @param {() => Promise<Array<[string, number]>>} read */
async function settledMissing(ledger, read) {
  let missing = Number.POSITIVE_INFINITY;
  let since = Date.now();
  while (missing > 0 && Date.now() - since < LOST_AFTER_MS) {
    await sleep(LOOK_MS);
    // A database that has just restarted may refuse its first reads. The next attempt follows after LOOK_MS.
    const now = ledger.missing(await read().catch(() => []));
    if (now < missing) since = Date.now();
    missing = Math.min(missing, now);
  }
  return missing;
}

/**
 * @param {Environment} environment
 * @param {PeerDatabase} database
 * @param {Programs} programs
 * @returns {Promise<Target>}
 */
export async function peerTarget(environment, database, programs) {
  const name = `${database.kind}-killed`;
  const peer = await openPeer(environment, { name, database, programs });
  await peer.line(KNOWN_TUNING, samplesOf(LOAD));
  return {
    url: peer.broker.url,
    format: 'lines',
    consumer: peer,
    victims: { Telegraf: peer, Mosquitto: peer.broker, database },
    samples: (from) => database.samples(from),
  };
}

/** @param {Environment} environment @returns {Promise<Target>} Millrace with unchanged ingest */
export async function ourTarget(environment) {
  const ours = await openOurs(environment, { wired: false });
  // Earlier measurements are flushed, because replaying their gigabyte of commit log would take a minute.
  await environment.nodetool?.(['flush']);
  const database = { kill: async () => environment.kill?.(), start: async () => environment.start?.() };
  return {
    url: ours.broker.url,
    format: 'senml',
    consumer: ours,
    victims: { ingest: ours, Mosquitto: ours.broker, database },
    async samples(from) {
      /** @type {Array<[string, number]>} */
      const found = [];
      const range = { first: FIRST_DEVICE, devices: LOAD.devices, from, to: Date.now() + HOUR_MS };
      await visitStored(ours.cql, range, (device, times) => {
        const tag = tagOf(deviceName(device), sensorName(0));
        for (let at = 0; at < times.length; at++) {
          const time = Number(times[at]);
          if (time >= from) found.push([tag, time]);
        }
      });
      return found;
    },
  };
}
