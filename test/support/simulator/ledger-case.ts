import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
  uuidText,
} from '../../../schema/ids.ts';
import { sortMerge } from '../../../schema/packed/series.ts';
import { bucketOf } from '../../../schema/rules.ts';
import { noteOf } from '../../../simulator/ledger/format.ts';
import { Ledger } from '../../../simulator/ledger/ledger.ts';
import { compareLedger, type Result } from '../../../simulator/verify/compare.ts';
import type { Stored } from '../../../simulator/verify/device.ts';

export const HOUR_MS = 3_600_000;

/** Begin of the first hour of `createFleetCase`, in epoch ms. */
export const START = Date.UTC(2026, 10, 21, 10);

/** `ts` in epoch ms */
export type Samples = Array<[ts: number, value: number]>;
/** A row of batches or of history, with ids. `packed`: history has all samples of its hour. */
type Row = { device: string; sensor: string; hour: number; samples: Samples; packed?: boolean };

/** @param sensor names */
function idsOf(device: string, sensor: string): { device: string; sensor: string } {
  const { id } = identifyDevice(device) as Identity;
  const identity = identifySensor(id, sensor) as SensorIdentity;
  return { device: id, sensor: identity.id };
}

const seriesOf = ({ samples }: Row) => ({
  times: samples.map(([ts]) => ts),
  values: samples.map(([, value]) => value),
});

/**
 * Makes a ledger on disk, and in memory the data of a database, as far as the comparison reads it. A test
 * sends messages, and then changes the stored data.
 */
export function createLedgerCase(afterwards: (cleanUp: () => unknown) => void) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-ledger-case-'));
  afterwards(() => rmSync(directory, { recursive: true, force: true }));
  const ledgerPath = join(directory, 'ledger');
  const ledger = new Ledger({
    path: ledgerPath,
    onFailed: (error) => {
      throw error;
    },
  });
  let batches: Row[] = [];
  let history: Row[] = [];
  let packedUntil = 0;
  const latest: Map<string, { device: string; id: string; ts: number | null; value: number | null }> =
    new Map();

  /** @param samples of one hour */
  function store(device: string, sensor: string, samples: Samples, rows: Row[] = batches) {
    rows.push({ ...idsOf(device, sensor), hour: bucketOf(Number(samples[0]?.[0])), samples });
  }

  function setLatest(device: string, sensor: string, [ts, value]: [ts: number | null, value: number | null]) {
    const ids = idsOf(device, sensor);
    latest.set(`${device}/${sensor}`, { device: ids.device, id: ids.sensor, ts, value });
  }

  return {
    ledgerPath,
    store,
    setLatest,
    batches: () => batches,
    history: () => history,

    /**
     * Sends one message. A healthy system stores acknowledged messages, and updates `latest`.
     * @param samples of one hour
     */
    send(
      device: string,
      sensor: string,
      samples: Samples,
      { acknowledged = true, stored = acknowledged }: { acknowledged?: boolean; stored?: boolean } = {},
    ) {
      const series = [{ name: sensor, samples: samples.map(([ts, value]) => ({ ts, value })) }];
      const number = Number(ledger.sent(noteOf(device, series)));
      if (acknowledged) ledger.acknowledged(number);
      if (!stored) return;
      store(device, sensor, samples);
      for (const [ts, value] of samples) {
        if (ts > Number(latest.get(`${device}/${sensor}`)?.ts ?? 0)) setLatest(device, sensor, [ts, value]);
      }
    },

    /** Packs all batches into history, and lets them expire. @param until epoch ms, the end of the last hour */
    pack(until: number) {
      for (const row of batches) {
        const before = history.find((packed) => packed.sensor === row.sensor && packed.hour === row.hour);
        const all = [...(before?.samples ?? []), ...row.samples];
        const { times, values } = sortMerge(
          all.map(([ts]) => ts),
          all.map(([, value]) => value),
        );
        const samples = [...times].map((ts, i) => [ts, Number(values[i])]) as Samples;
        history = [...history.filter((packed) => packed !== before), { ...row, samples, packed: true }];
      }
      batches = [];
      packedUntil = until;
    },

    /** Ends the ledger, and makes the data readable as by the store. */
    open(): Stored {
      ledger.close();
      const stored = {
        samples: {
          async readDeviceHour(device: Buffer, hour: number) {
            const rows: Map<string, ReturnType<typeof seriesOf>[]> = new Map();
            for (const row of batches) {
              if (row.device !== uuidText(device) || row.hour !== hour) continue;
              const known = rows.get(row.sensor) ?? [];
              rows.set(row.sensor, known);
              known.push(seriesOf(row));
            }
            return rows;
          },
        },
        packed: {
          readStatistics: async ({ sensor }: { sensor: Buffer }, from: number, to: number) =>
            history
              .filter((row) => row.sensor === uuidText(sensor) && row.hour >= from && row.hour < to)
              .map(({ hour, packed }) => ({
                hour,
                statistics: null,
                readFrom: packed ? hour : null,
                lateAt: null,
              }))
              .sort((a, b) => a.hour - b.hour),
          readHour: async ({ sensor }: { sensor: Buffer }, hour: number) =>
            history.filter((row) => row.sensor === uuidText(sensor) && row.hour === hour).map(seriesOf),
        },
        packProgress: { read: async () => ({ packedUntil }) },
        fleet: {
          latestOfDevice: async ({ bytes }: { bytes: Buffer }) =>
            [...latest.values()].filter(({ device }) => device === uuidText(bytes)),
        },
      };
      return stored as unknown as Stored;
    },

    compare(options: Partial<Parameters<typeof compareLedger>[0]> = {}) {
      return compareLedger({ ledgerPath, store: options.store ?? this.open(), groups: 4, ...options });
    },
  };
}

export function createFleetCase(afterwards: (cleanUp: () => unknown) => void) {
  const fleet = createLedgerCase(afterwards);
  for (const hour of [0, 1, 2]) {
    const at = START + hour * HOUR_MS;
    fleet.send('collar', 'pulse', [
      [at + 1000, 60],
      [at + 2000, 61],
    ]);
    fleet.send('collar', 'temperature', [[at + 1500, 38.5]]);
  }
  fleet.send('machine', 'load', [[START + 5000, -0]]);
  return fleet;
}

export const findingsOf = ({ found }: Result) =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([, { count }]) => count > 0)
      .map(([kind, { count, first }]) => [
        kind,
        { count, first: first.map(({ device, sensor, ts }) => `${device}/${sensor} ${ts}`) },
      ]),
  );

/** @param kinds number of findings of each kind, without empty kinds */
export function expectFindings(result: Result, kinds: Record<string, number>) {
  const counts = Object.entries(findingsOf(result)).map(([kind, { count }]) => [kind, count]);
  expect(Object.fromEntries(counts)).toEqual(kinds);
  expect(result.agree).toBe(counts.length === 0);
}
