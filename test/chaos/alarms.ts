import type { LedgerIndex } from '../cluster/kit/ledger-index.ts';
import { pagesOf } from '../support/http/pages.ts';
import type { Json } from '../support/json.ts';
import { until } from '../support/until.ts';
import type { Problem, Reader } from './reader.ts';

/** Each sensor of these devices has an alarm every two seconds. */
const RULED_DEVICES = 3;

/** Compares the alarms of some devices with the episodes that the simulator noted in its ledger. */
export class AlarmCheck {
  #index;
  #reader;
  #ruled: string[] = [];

  constructor(index: LedgerIndex, reader: Reader) {
    this.#index = index;
    this.#reader = reader;
  }

  /** @param ask repeats a question until it is answered @param since epoch ms */
  async addRules(ask: <T>(question: () => Promise<T>) => Promise<T>, since: number) {
    const devices = [...this.#index.devices.keys()].sort().slice(0, RULED_DEVICES);
    for (const device of devices) {
      const sensors = [...(this.#index.devices.get(device)?.keys() ?? [])];
      for (const sensor of sensors) {
        const { limit } = await until(async () => {
          await this.#index.advance();
          return this.#episodesOf(device, sensor)[0];
        });
        const condition = { kind: 'above', limit };
        const rule = { name: `${device} ${sensor}`, scope: { device, sensor }, condition, since };
        await ask(() => this.#reader.post('/alarm-rules', { severity: 'info', ...rule }));
      }
    }
    this.#ruled = devices;
  }

  /** When all samples are acknowledged, and the devices have ended. @throws when a process does not answer */
  async check(): Promise<Problem[]> {
    await this.#index.advance();
    const problems: Problem[] = [];
    for (const device of this.#ruled) {
      for (const sensor of this.#index.devices.get(device)?.keys() ?? []) {
        const path = `/alarms?device=${device}&sensor=${sensor}&state=all&limit=1000`;
        const pages = await pagesOf(this.#reader, path);
        const found = new Set(
          pages
            .flat()
            .filter(({ state }) => state !== 'withdrawn')
            .map(keyOf),
        );
        const expected = new Set(
          this.#episodesOf(device, sensor).map(({ start, end, peak }) => JSON.stringify([start, end, peak])),
        );
        const add = (key: string, message: string) =>
          problems.push({
            kind: 'alarm',
            where: 'alarms',
            device,
            sensor,
            ts: JSON.parse(key)[0],
            message: `${key} ${message}`,
          });
        for (const key of expected) if (!found.has(key)) add(key, 'is no alarm');
        for (const key of found) if (!expected.has(key)) add(key, 'did not happen');
      }
    }
    return problems;
  }

  #episodesOf(device: string, sensor: string) {
    return (this.#index.episodes.get(device) ?? []).filter((episode) => episode.sensor === sensor);
  }
}

/** Start, end and peak. */
const keyOf = ({ started_at, cleared_at, peak }: Json) =>
  JSON.stringify([Date.parse(started_at), cleared_at && Date.parse(cleared_at), peak]);
