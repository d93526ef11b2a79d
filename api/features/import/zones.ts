import { candidates, isZone } from '../../../common/zones.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';

/** A fixed offset, such as `+01:00`, `UTC+1`, `GMT-05:00` or `UTC`. */
const FIXED = /^(?:(?:UTC|GMT)\s*)?([+-])(\d{1,2})(?::?(\d\d))?$|^(?:UTC|GMT|Z)$/i;

/** Beyond this distance from 1970 nothing is converted. Such times are refused anyway. */
const MAX_TIME_MS = 8e15;

/** A zone of the tz database, or a fixed offset from UTC. */
export class Zone {
  name;
  /** Offset from UTC in ms, of clocks that never change. */
  #fixed: number | null;

  constructor(name: string, fixed: number | null) {
    this.name = name;
    this.#fixed = fixed;
  }

  /** Null: the text names no zone. */
  static parse(text: string): Zone | null {
    const match = FIXED.exec(text.trim());
    if (!match) return isZone(text) ? new Zone(text, null) : null;
    const [, sign = '+', hours = '0', minutes = '0'] = match;
    const size = Number(hours) * HOUR_MS + Number(minutes) * 60_000;
    return size < DAY_MS && Number(minutes) < 60 ? new Zone(text, sign === '-' ? -size : size) : null;
  }

  get isFixed() {
    return this.#fixed !== null;
  }

  /**
   * Instants (epoch ms) with this local time, which is read as if it were UTC. Ascending: none in a gap, two in an hour that comes twice.
   */
  candidates(local: number): number[] {
    if (Math.abs(local) > MAX_TIME_MS) return [local];
    return this.#fixed === null ? candidates(local, this.name) : [local - this.#fixed];
  }

  /** For a local time in a gap: the smaller offset of before and after it, in ms, usually that of winter. */
  winterOffset(local: number): number {
    const days = [local - DAY_MS, local + DAY_MS];
    return Math.min(...days.map((day) => day - (this.candidates(day)[0] ?? day)));
  }

  /** Such as `2026-11-01 11:00:00.000 +01:00`. */
  format(time: number): string {
    const local = [-1, 0, 1, 2]
      .flatMap((days) => this.#localOf(time, days))
      .find((instant) => this.candidates(instant).includes(time));
    const shown = local ?? time;
    return `${new Date(shown).toISOString().replace('T', ' ').slice(0, -1)} ${offsetText(shown - time)}`;
  }

  #localOf(time: number, days: number): number[] {
    const near = time + days * DAY_MS - DAY_MS / 2;
    return this.candidates(near).map((candidate) => time + (near - candidate));
  }
}

/** `offset` is in ms. An example of the result: `+01:00`. */
export const offsetText = (offset: number): string =>
  `${offset < 0 ? '-' : '+'}${new Date(Math.abs(offset)).toISOString().slice(11, 16)}`;
