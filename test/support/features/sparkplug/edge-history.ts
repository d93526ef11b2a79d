import { bdSeq, encodePayload, type MetricContent } from './payload.ts';

const NAMES = ['temp', 'pressure', 'flow', 'level'];
const NUMBERS = 256;
const DAY_MS = 86_400_000;

/** A message that reached the broker. */
export type Packet = { topic: string; payload: Buffer; qos: 0 | 1; values: Sent[] };

/** A value that the node has sent. */
export type Sent = { device: string; name: string; ts: number; value: number };

/**
 * A Sparkplug edge node with one device. It knows the name of each value that it sends, so that a value stored under another name
 * is noticed. The value of the i-th name is 8 n + i.
 */
export class SimulatedNode {
  #random;
  #id;
  #connection = -1;
  #seq = 0;
  #isUp = false;
  /** Aliases of the node and of its device, by name. */
  #tables: Array<Map<string, number>> = [new Map(), new Map()];
  /** Assignments so far, as text. */
  #earlier: Set<string> = new Set();
  /** The clock of the node minus that of the test, in ms. */
  #offset = 0;
  #clock;
  #measured = 0;
  #qos;

  /** @param random at least 0, less than 1 @param clock epoch ms */
  constructor(id: string, random: () => number, clock: () => number) {
    this.#id = id;
    this.#random = random;
    this.#clock = clock;
    this.#qos = (random() < 0.5 ? 0 : 1) as 0 | 1;
  }

  get id() {
    return this.#id;
  }

  get name() {
    return `g/${this.#id}`;
  }

  get isUp() {
    return this.#isUp;
  }

  #below(count: number) {
    return Math.floor(this.#random() * count);
  }

  #now() {
    return this.#clock() + this.#offset;
  }

  #packet(
    type: 'NBIRTH' | 'NDATA' | 'NDEATH' | 'DBIRTH' | 'DDATA' | 'DDEATH',
    metrics: MetricContent[],
    { values = [], qos = this.#qos }: { values?: Sent[]; qos?: 0 | 1 } = {},
  ): Packet {
    const topic = `spBv1.0/g/${type}/${this.#id}${type.startsWith('D') ? '/dev' : ''}`;
    if (type === 'NBIRTH') this.#seq = 0;
    const seq = type === 'NDEATH' ? undefined : this.#seq;
    if (type !== 'NDEATH') this.#seq = (this.#seq + 1) % NUMBERS;
    const payload = encodePayload({ ts: type === 'NDEATH' ? undefined : this.#now(), seq, metrics });
    return { topic, payload, qos, values };
  }

  /** Assigns the aliases again: often the same ones to other metrics, but never as in an earlier assignment. */
  #assign(which: 0 | 1) {
    const aliases = [1, 2, 3, 4, 5, 6].sort(() => this.#random() - 0.5);
    const used = NAMES.filter(() => this.#random() < 0.8);
    const table = new Map(used.map((name, index) => [name, Number(aliases[index])]));
    const text = JSON.stringify([which, ...table]);
    if (this.#earlier.has(text)) return;
    this.#earlier.add(text);
    this.#tables[which] = table;
  }

  #measure(which: 0 | 1, name: string): Sent {
    this.#measured++;
    const device = which === 0 ? this.name : `${this.name}/dev`;
    const value = 8 * this.#measured + NAMES.indexOf(name);
    // Each value has an instant of its own, so that none hides another.
    return { device, name, ts: this.#now() - DAY_MS + this.#measured * 7, value };
  }

  #birth(which: 0 | 1, more: MetricContent[]) {
    const values = [...(this.#tables[which] ?? [])].map(([name]) => this.#measure(which, name));
    const metrics = values.map(({ name, ts, value }) => {
      const alias = this.#tables[which]?.get(name);
      return { name, alias, ts, type: 'double' as const, value };
    });
    return this.#packet(which === 0 ? 'NBIRTH' : 'DBIRTH', [...more, ...metrics], { values });
  }

  #births(): Packet[] {
    return [this.#birth(0, [bdSeq(this.#connection % NUMBERS)]), this.#birth(1, [])];
  }

  #will(): Packet {
    return this.#packet('NDEATH', [bdSeq(this.#connection % NUMBERS)], { qos: 1 });
  }

  /** Connects, with other aliases most of the time. */
  connect(): Packet[] {
    this.#isUp = true;
    this.#connection++;
    if (this.#random() < 0.7) this.#assign(0);
    if (this.#random() < 0.7) this.#assign(1);
    return this.#births();
  }

  /** The connection breaks. @returns its will, which may arrive late */
  disconnect(): Packet {
    this.#isUp = false;
    return this.#will();
  }

  /** Answers a rebirth command, or its configuration changes. */
  repeatBirth(changes: boolean): Packet[] {
    if (changes) {
      this.#assign(0);
      this.#assign(1);
    }
    return this.#births();
  }

  /** @returns the device ends, and comes back with a birth of its own */
  replaceDevice(): Packet[] {
    const death = this.#packet('DDEATH', []);
    this.#assign(1);
    return [death, this.#birth(1, [])];
  }

  /** @returns some values, most by alias only; null: it has no metrics */
  data(): Packet | null {
    const which = this.#below(2) as 0 | 1;
    const table = this.#tables[which] ?? new Map();
    const names = [...table.keys()].filter(() => this.#random() < 0.6);
    if (names.length === 0) return null;
    const values = names.map((name) => this.#measure(which, name));
    const isNamed = this.#random() < 0.1;
    const metrics = values.map(({ name, ts, value }) => ({
      ...(isNamed ? { name } : { alias: table.get(name) }),
      ts,
      value,
    }));
    return this.#packet(which === 0 ? 'NDATA' : 'DDATA', metrics, { values });
  }

  jump() {
    this.#offset = [0, -10 * DAY_MS, -3_600_000, 60_000, -5][this.#below(5)] ?? 0;
  }
}

export const sentName = (value: number): string | undefined => NAMES[value % 8];
