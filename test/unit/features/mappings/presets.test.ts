import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { expandPreset, Mapping, Mappings, readPresets } from '../../../../api/features/mappings/mappings.ts';
import { readMapped } from '../../../support/features/mappings.ts';

/** A payload of a product, and its expected result. Without `ts` the time of receipt counts. */
interface Vector {
  title: string;
  topic: string;
  /** JSON, or a text that is sent as it is */
  payload: unknown;
  device: string;
  ts?: string;
  values?: Record<string, number>;
  units?: Record<string, string>;
  skipped?: number;
  describes?: { sensor: string; unit?: string; type?: string };
  isSkipped?: boolean;
}

const RECEIVED = Date.parse('2026-11-22T16:00:00.000Z');

describe.each(readPresets())('Preset $name', (preset) => {
  const mappings = new Mappings(expandPreset(preset).map((spec) => new Mapping(spec)));
  const url = new URL(`../../../vectors/mappings/${preset.name}.json`, import.meta.url);
  const vectors: Vector[] = JSON.parse(readFileSync(url, 'utf8'));

  test.each(vectors)('Preset of mappings: message $title: read as in the vector', (vector) => {
    const { topic, payload, device, values = {}, units = {}, skipped = 0, ts, describes } = vector;
    const bytes = Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
    const read = readMapped(mappings, topic, bytes, RECEIVED);
    if (vector.isSkipped) {
      expect(read).toBe('skipped');
      return;
    }
    if (describes) {
      expect(read).toEqual({ device, describes });
      return;
    }
    const time = ts === undefined ? RECEIVED : Date.parse(ts);
    expect(read).toEqual({
      device,
      values: Object.fromEntries(Object.entries(values).map(([sensor, value]) => [sensor, [[time, value]]])),
      units,
      skipped,
      refused: [],
    });
  });
});
