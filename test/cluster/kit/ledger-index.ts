import { type FileHandle, open } from 'node:fs/promises';
import type { SentEpisode } from '../../../simulator/faults/episodes.ts';
import { Bitmap, entryOf, type Sent } from '../../../simulator/verify/ledger-parts.ts';

const CHUNK_BYTES = 1 << 20;

type Line = {
  ledger?: number;
  sent?: number;
  acknowledged?: number;
  episode?: SentEpisode;
  device: string;
  series: Array<{ sensor: string; times: number[]; values: number[] }>;
};

/** What a ledger has so far, in memory: about 30 bytes for each sample. It reads the ledger while it grows. */
export class LedgerIndex {
  readonly path: string;
  #file: FileHandle | null = null;
  #offset = 0;
  #rest = '';
  #reading: Promise<void> = Promise.resolve();
  /** Each run in the file numbers its messages from 1. */
  #before = 0;
  #last = 0;
  /** unacknowledged messages, with the time of their newest sample in epoch ms */
  #open: Map<number, { device: string; newest: number; samples: number }> = new Map();
  /** by message; epoch ms, as of the reading */
  acknowledgedAt: Map<number, number> = new Map();
  /** by device and sensor, in the order of sending */
  devices: Map<string, Map<string, Sent>> = new Map();
  /** by device */
  episodes: Map<string, SentEpisode[]> = new Map();
  counts = { messages: 0, samples: 0 };
  /** epoch ms of the newest acknowledged sample; -Infinity: none is acknowledged */
  newest: Map<string, number> = new Map();

  constructor(path: string) {
    this.path = path;
  }

  /** Reads what was added to the file. */
  advance(): Promise<void> {
    this.#reading = this.#reading.then(() => this.#readOn());
    return this.#reading;
  }

  close = () => this.#reading.finally(() => this.#file?.close());

  /** The acknowledged messages of these samples, as they are known now. */
  acknowledgedOf({ messages }: Sent): Bitmap {
    const kept = new Bitmap();
    for (const message of messages) if (this.acknowledgedAt.has(message)) kept.add(message);
    return kept;
  }

  /** Whether every device has an acknowledged sample that it measured at this time or later. @param time epoch ms */
  hasRecovered = (time: number): boolean => [...this.newest.values()].every((ts) => ts >= time);

  /** When a sample was sent and acknowledged, for people. */
  lifeOf(device: string, sensor: string, ts: number): string {
    const sent = this.devices.get(device)?.get(sensor);
    const message = sent?.messages[sent.times.indexOf(ts)];
    if (message === undefined) return 'never sent';
    const at = this.acknowledgedAt.get(message);
    return `in message ${message}, ${at ? `acknowledged at ${new Date(at).toISOString()}` : 'not acknowledged'}`;
  }

  async #readOn() {
    this.#file ??= await open(this.path).catch(() => null);
    if (!this.#file) return;
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await this.#file.read(chunk, 0, CHUNK_BYTES, this.#offset);
      if (bytesRead === 0) return;
      this.#offset += bytesRead;
      // All names of the fleets are ASCII, so a chunk ends at the end of a character.
      const lines = (this.#rest + chunk.toString('latin1', 0, bytesRead)).split('\n');
      this.#rest = String(lines.pop());
      for (const line of lines) this.#add(parse(line));
    }
  }

  #add(line: Line | null) {
    if (line?.ledger !== undefined) this.#before = this.#last;
    if (line?.sent !== undefined) this.#addSent(this.#before + line.sent, line);
    if (line?.episode) entryOf(this.episodes, line.device, () => []).push(line.episode);
    if (line?.acknowledged !== undefined) this.#addAcknowledged(this.#before + line.acknowledged);
  }

  #addSent(number: number, { device, series }: Line) {
    this.#last = number;
    const message = { device, newest: Number.NEGATIVE_INFINITY, samples: 0 };
    const sensors = entryOf(this.devices, device, () => new Map());
    for (const { sensor, times, values } of series) {
      const sent: Sent = entryOf(sensors, sensor, () => ({ times: [], values: [], messages: [] }));
      for (const [index, ts] of times.entries()) {
        sent.times.push(ts);
        sent.values.push(Number(values[index]));
        sent.messages.push(number);
        message.newest = Math.max(message.newest, ts);
      }
      message.samples += times.length;
    }
    this.#open.set(number, message);
    if (!this.newest.has(device)) this.newest.set(device, Number.NEGATIVE_INFINITY);
  }

  #addAcknowledged(number: number) {
    const message = this.#open.get(number);
    if (!message) return;
    this.#open.delete(number);
    this.acknowledgedAt.set(number, Date.now());
    this.counts.messages++;
    this.counts.samples += message.samples;
    this.newest.set(message.device, Math.max(message.newest, Number(this.newest.get(message.device))));
  }
}

/** Null: the line is incomplete, because the run was killed. */
function parse(line: string): Line | null {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
