import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../../../schema/rules.ts';
import type { Environment } from '../environment/index.ts';
import { deviceName, sensorName, tagOf } from '../load/payloads.ts';
import { loadOf, samplesOf } from '../load/shapes.ts';
import { visitStored } from '../measure/stored.ts';
import type { PeerDatabase } from './database.ts';
import { FIRST_DEVICE, Ledger, publishByLedger } from './ledger.ts';
import { openOurs, openPeer } from './pipelines.ts';
import { KNOWN_TUNING } from './settings.ts';
import type { Programs } from './tools.ts';

/** Few devices, so that all samples can be read back quickly. */
const LOAD = loadOf('1x10', 100);
const MESSAGES_PER_SECOND = 2000;

/** Between the kill and the restart of the victim. */
const AWAY_MS = 1000;

/**
 * Missing samples are read again after LOOK_MS. They are lost if none of them arrives for LOST_AFTER_MS. This time is longer than
 * Telegraf waits for an answer of a killed database (`timeout` in settings.ts). Until then Telegraf sends nothing.
 */
const LOOK_MS = 1000;
const LOST_AFTER_MS = 20_000;

type Victim = { kill: () => Promise<unknown>; start: () => Promise<unknown> };

interface Target {
  /** URL of the broker */
  url: string;
  format: 'senml' | 'lines';
  /** reads from the broker */
  consumer: Victim;
  victims: Record<string, Victim>;
  /** stored since `from`, epoch ms */
  samples: (from: number) => Promise<Array<[sensor: string, time: number]>>;
}

/** Numbers of samples. */
export type Kill = { victim: string; acknowledged: number; missing: number };

/**
 * In the middle of a run. A ledger counts the samples that the broker acknowledged to the publisher but that are not stored.
 * @param options `forMs`: load before the kill, and again after the restart
 */
export async function killEach(
  target: Target,
  { victims, forMs, status }: { victims: string[]; forMs: number; status: (text: string) => void },
): Promise<Kill[]> {
  const kills = [];
  const shape = { ...LOAD, format: target.format };
  for (const victim of victims) {
    const part = target.victims[victim] as Victim;
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

async function settledMissing(ledger: Ledger, read: () => Promise<Array<[string, number]>>) {
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

export async function peerTarget(
  environment: Environment,
  database: PeerDatabase,
  programs: Programs,
): Promise<Target> {
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

export async function ourTarget(environment: Environment): Promise<Target> {
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
      const found: Array<[string, number]> = [];
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
