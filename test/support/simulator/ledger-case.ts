import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from '@jest/globals';
import { identifyDevice, identifySensor, uuidText } from '../../../schema/ids.js';
import { sortMerge } from '../../../schema/packed/series.js';
import { bucketOf } from '../../../schema/rules.js';
import { noteOf } from '../../../simulator/ledger/format.js';
import { Ledger } from '../../../simulator/ledger/ledger.js';
import { compareLedger } from '../../../simulator/verify/compare.js';

/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Result } from '../../../simulator/verify/compare.js' */
/** @import { Stored } from '../../../simulator/verify/device.js' */

export const HOUR_MS = 3_600_000;

/** Begin of the first hour of `createFleetCase`, in epoch ms. */
export const START = Date.UTC(2026, 10, 21, 10);

/** @typedef {Array<[ts: number, value: number]>} Samples `ts` in epoch ms */
/**
 * A row of batches or of history, with ids. `packed`: history has all samples of its hour.
 *
 * @typedef {{ device: string, sensor: string, hour: number, samples: Samples, packed?: boolean }} Row
 */

/** @param {string} device @param {string} sensor names @returns {{ device: string, sensor: string }} ids */
function idsOf(device, sensor) {
  const { id } = /** @type {Identity} */ (identifyDevice(device));
  const identity = /** @type {Identity} */ (identifySensor(id, sensor));
  return { device: id, sensor: identity.id };
}

/** @param {Row} row */
const seriesOf = ({ samples }) => ({
  times: samples.map(([ts]) => ts),
  values: samples.map(([, value]) => value),
});

/**
 * Makes a ledger on disk, and in memory the data of a database, as far as the comparison reads it. A test
 * sends messages, and then changes the stored data.
 *
 * @param {(cleanUp: () => unknown) => void} afterwards
 */
export function createLedgerCase(afterwards) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-ledger-case-'));
  afterwards(() => rmSync(directory, { recursive: true, force: true }));
  const ledgerPath = join(directory, 'ledger');
  const ledger = new Ledger({
    path: ledgerPath,
    onFailed: (error) => {
      throw error;
    },
  });
  /** @type {Row[]} */
  let batches = [];
  /** @type {Row[]} */
  let history = [];
  let packedUntil = 0;
  /** @type {Map<string, { device: string, id: string, ts: number | null, value: number | null }>} */
  const latest = new Map();

  /** @param {string} device @param {string} sensor @param {Samples} samples of one hour @param {Row[]} [rows] */
  function store(device, sensor, samples, rows = batches) {
    rows.push({ ...idsOf(device, sensor), hour: bucketOf(Number(samples[0]?.[0])), samples });
  }

  /** @param {string} device @param {string} sensor @param {[ts: number | null, value: number | null]} newest */
  function setLatest(device, sensor, [ts, value]) {
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
     *
     * @param {string} device
     * @param {string} sensor
     * @param {Samples} samples of one hour
     * @param {{ acknowledged?: boolean, stored?: boolean }} [outcome]
     */
    send(device, sensor, samples, { acknowledged = true, stored = acknowledged } = {}) {
      const series = [{ name: sensor, samples: samples.map(([ts, value]) => ({ ts, value })) }];
      const number = Number(ledger.sent(noteOf(device, series)));
      if (acknowledged) ledger.acknowledged(number);
      if (!stored) return;
      store(device, sensor, samples);
      for (const [ts, value] of samples) {
        if (ts > Number(latest.get(`${device}/${sensor}`)?.ts ?? 0)) setLatest(device, sensor, [ts, value]);
      }
    },

    /** Packs all batches into history, and lets them expire. @param {number} until epoch ms, the end of the last hour */
    pack(until) {
      for (const row of batches) {
        const before = history.find((packed) => packed.sensor === row.sensor && packed.hour === row.hour);
        const all = [...(before?.samples ?? []), ...row.samples];
        const { times, values } = sortMerge(
          all.map(([ts]) => ts),
          all.map(([, value]) => value),
        );
        const samples = /** @type {Samples} */ ([...times].map((ts, i) => [ts, Number(values[i])]));
        history = [...history.filter((packed) => packed !== before), { ...row, samples, packed: true }];
      }
      batches = [];
      packedUntil = until;
    },

    /** Ends the ledger, and makes the data readable as by the store. @returns {Stored} */
    open() {
      ledger.close();
      const stored = {
        samples: {
          /** @param {Buffer} device @param {number} hour */
          async readDeviceHour(device, hour) {
            /** @type {Map<string, ReturnType<typeof seriesOf>[]>} */
            const rows = new Map();
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
          /** @param {{ sensor: Buffer }} key @param {number} from @param {number} to */
          readStatistics: async ({ sensor }, from, to) =>
            history
              .filter((row) => row.sensor === uuidText(sensor) && row.hour >= from && row.hour < to)
              .map(({ hour, packed }) => ({
                hour,
                statistics: null,
                readFrom: packed ? hour : null,
                lateAt: null,
              }))
              .sort((a, b) => a.hour - b.hour),
          /** @param {{ sensor: Buffer }} key @param {number} hour */
          readHour: async ({ sensor }, hour) =>
            history.filter((row) => row.sensor === uuidText(sensor) && row.hour === hour).map(seriesOf),
        },
        packProgress: { read: async () => ({ packedUntil }) },
        fleet: {
          /** @param {{ bytes: Buffer }} key */
          latestOfDevice: async ({ bytes }) =>
            [...latest.values()].filter(({ device }) => device === uuidText(bytes)),
        },
      };
      return /** @type {Stored} */ (/** @type {unknown} */ (stored));
    },

    /** @param {Partial<Parameters<typeof compareLedger>[0]>} [options] */
    compare(options = {}) {
      return compareLedger({ ledgerPath, store: options.store ?? this.open(), groups: 4, ...options });
    },
  };
}

/**
 * Makes a case with two sensors that sent a message each hour for three hours, and another device.
 *
 * @param {(cleanUp: () => unknown) => void} afterwards
 */
export function createFleetCase(afterwards) {
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

/** The findings, without empty kinds. @param {Result} result */
export const findingsOf = ({ found }) =>
  Object.fromEntries(
    Object.entries(found)
      .filter(([, { count }]) => count > 0)
      .map(([kind, { count, first }]) => [
        kind,
        { count, first: first.map(({ device, sensor, ts }) => `${device}/${sensor} ${ts}`) },
      ]),
  );

/** @param {Result} result @param {Record<string, number>} kinds number of findings of each kind, without empty kinds */
export function expectFindings(result, kinds) {
  const counts = Object.entries(findingsOf(result)).map(([kind, { count }]) => [kind, count]);
  expect(Object.fromEntries(counts)).toEqual(kinds);
  expect(result.agree).toBe(counts.length === 0);
}
