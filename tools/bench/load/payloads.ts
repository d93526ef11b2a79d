import { encodeSenml } from '../../../simulator/payloads/senml.ts';
import { createRandom } from '../../../simulator/random.ts';
import type { Shape } from './shapes.ts';

/** The number is padded, so all names, and all packets of a load, have the same length. */
export const NUMBER_DIGITS = 6;

const MAX_DEVICES = 100_000;

export const deviceName = (number: number): string => `bench-${String(number).padStart(NUMBER_DIGITS, '0')}`;

/**
 * End of the time range of the last message of each device, in epoch ms. A process keeps one array for all of its loads. If a load began
 * with earlier times, ingest would write no values to the table `latest`, because that table keeps only the newest.
 */
export const createClocks = () => new Float64Array(MAX_DEVICES);

/**
 * A message begins now, or right after the last message of its device if that is later. So times are fresh, and no sample has the same time
 * twice.
 */
export function createDevices({
  clocks,
  first,
  count,
  samples,
}: {
  clocks: Float64Array;
  first: number;
  count: number;
  samples: number;
}) {
  let next = first;

  return {
    number: first,
    /** Start of the current message, in epoch ms. */
    time: 0,

    /** @param now epoch ms */
    advance(now: number) {
      this.number = next;
      this.time = Math.max(now, clocks[next] as number);
      clocks[next] = this.time + samples * STEP_MS;
      next = next + 1 === first + count ? first : next + 1;
    },
  };
}

/** Different payloads of a load: so many that no cache makes a variant faster. */
const VARIETY = 64;

/** Time between two samples: short, so that a device can send often without repeating a time. */
export const STEP_MS = 1;

/** It has as many digits as any time until the year 2286. */
const PLACEHOLDER_MS = 1_111_111_111_111;

export const sensorName = (index: number) => `sensor-${String(index).padStart(2, '0')}`;

type Series = { name: string; samples: Array<{ ts: number; value: number }> };

/** Every encoding gets the same messages. Times start at a placeholder. */
export function messagesOf({ sensors, samples }: Shape): Series[][] {
  const random = createRandom(1);
  return Array.from({ length: VARIETY }, () =>
    Array.from({ length: sensors }, (_, sensor) => ({
      name: sensorName(sensor),
      samples: Array.from({ length: samples }, (_, at) => ({
        ts: PLACEHOLDER_MS + at * STEP_MS,
        value: Math.round(random.between(2000, 3000)) / 100,
      })),
    })),
  );
}

/** @param ms epoch ms, written as seconds */
function writeSeconds(bytes: Buffer, at: number, ms: number) {
  const seconds = Math.floor(ms / 1000);
  writeDigits(bytes, at, seconds, 10);
  writeDigits(bytes, at + 11, ms - seconds * 1000, 3);
}

/** InfluxDB calls a table a measurement. */
export const LINE_TABLE = 'm';

/** Digits of a time in epoch ms until the year 2286. */
const TIME_DIGITS = 13;

/** InfluxDB's line protocol, precision ms. */
export const lineOf = (sensor: string, time: number, value: number): string =>
  `${LINE_TABLE},sensor=${sensor} value=${value} ${time}`;

/** At the peers, sensors of all devices share one tag. */
export const tagOf = (device: string, sensor: string) => `${device}/${sensor}`;

export interface Template {
  payload: Buffer;
  /** positions of the device number, one for each line */
  numbersAt: number[];
  /** `from`: start of the copy; `time`: time of its first sample, epoch ms */
  writeTimes: (bytes: Buffer, from: number, time: number) => void;
}

/** SenML as the simulator sends it. Messages only differ in their base time, which has 14 characters at a known position. */
export const encodeSenmlTemplates = (shape: Shape): Template[] =>
  messagesOf(shape).map((series) => {
    const payload = Buffer.from(encodeSenml(series));
    const timeAt = payload.indexOf(String(PLACEHOLDER_MS / 1000));
    return {
      payload,
      numbersAt: [],
      writeTimes: (bytes, from, time) => writeSeconds(bytes, from + timeAt, time),
    };
  });

/** Each line has the device number and a time. Both are written into every line of a copy. */
export const encodeLines = (shape: Shape): Template[] =>
  messagesOf(shape).map((series) => {
    const device = deviceName(0);
    const lines = series.flatMap(({ name, samples }) =>
      samples.map(({ ts, value }) => `${lineOf(tagOf(device, name), ts, value)}\n`),
    );
    const numbersAt: number[] = [];
    const timesAt: number[] = [];
    let at = 0;
    for (const line of lines) {
      numbersAt.push(at + line.indexOf(device) + device.length - NUMBER_DIGITS);
      timesAt.push(at + line.length - 1 - TIME_DIGITS);
      at += line.length;
    }
    return {
      payload: Buffer.from(lines.join('')),
      numbersAt,
      writeTimes(bytes, from, time) {
        for (let line = 0; line < timesAt.length; line++) {
          const later = (line % shape.samples) * STEP_MS;
          writeMilliseconds(bytes, from + Number(timesAt[line]), time + later);
        }
      },
    };
  });

/** Writes two halves, because 32-bit integers divide fastest. */
function writeMilliseconds(bytes: Buffer, at: number, time: number) {
  const high = Math.floor(time / 1e6);
  writeDigits(bytes, at, high, TIME_DIGITS - 6);
  writeDigits(bytes, at + TIME_DIGITS - 6, time - high * 1e6, 6);
}

/** @param number below 2 ** 31 */
export function writeDigits(bytes: Buffer, at: number, number: number, digits: number) {
  let rest = number;
  for (let place = at + digits - 1; place >= at; place--) {
    bytes[place] = 48 + (rest % 10);
    rest = (rest / 10) | 0;
  }
}
