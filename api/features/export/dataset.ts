import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DAY_MS, dayOf } from '../../../schema/rules.ts';
import type { Range } from '../../history/reading/hours.ts';
import type { Reading } from '../../history/reading/index.ts';
import type { Store } from '../../store/index.ts';
import { DATA_SET_LABELS, encodeParquet, listSensors, readSensors } from '../shared/columns/index.ts';
import type { Samples } from '../shared/columns/rows.ts';
import type { ExportedSensor, SensorSelection } from '../shared/columns/sensors.ts';

type DatasetProgress = { files: number; samples: number; bytes: number; path: string };

/**
 * Writes one Parquet file for each site and UTC day that has samples: `site=NAME/day=2026-11-21/part-0.parquet`. All
 * sensors of the export are in memory, but not their samples. A file gets its final name when it is complete, and
 * then replaces the file of an earlier export. No other file is changed. If a device has moved to another site, its
 * files under the former site stay, because they may belong to another installation.
 * @throws the reason with which `signal` was aborted
 */
export async function writeDataset(
  {
    store,
    reading,
    groups,
  }: {
    store: Pick<Store, 'fleet' | 'devices'>;
    reading: Pick<Reading, 'all'>;
    groups: number;
  },
  options: {
    directory: string;
    selection: SensorSelection;
    /** every UTC day that the range touches is exported as a whole */
    range: Range;
    /** epoch ms before which retention removes samples */
    oldest: () => number;
    signal: AbortSignal;
    onFile: (progress: DatasetProgress) => void;
  },
): Promise<DatasetProgress> {
  const { directory, selection, range, oldest, signal, onFile } = options;
  const progress = { files: 0, samples: 0, bytes: 0, path: '' };
  const sites = await sensorsBySite(listSensors(store, groups, selection));
  for (const day of daysOf(range)) {
    for (const [site, sensors] of sites) {
      signal.throwIfAborted();
      const path = join(directory, partitionOf(site, day), 'part-0.parquet');
      const part = { from: Math.max(day, oldest()), to: day + DAY_MS };
      // Retention has removed a part of this day. An existing file may still have these samples, so it is kept.
      if (part.from > day && existsSync(path)) continue;
      const file = await writePart(path, readSensors(reading, sensors, part, signal));
      if (file === null) continue;
      progress.files++;
      progress.samples += file.samples;
      progress.bytes += file.bytes;
      progress.path = path;
      onFile(progress);
    }
  }
  return progress;
}

/** UTC days that the range touches, in epoch ms. */
function daysOf({ from, to }: Range): number[] {
  const days = [];
  for (let day = dayOf(from); from < to && day < to; day += DAY_MS) days.push(day);
  return days;
}

async function sensorsBySite(
  sensors: AsyncIterable<ExportedSensor>,
): Promise<Map<string | null, ExportedSensor[]>> {
  const sites: Map<string | null, ExportedSensor[]> = new Map();
  for await (const sensor of sensors) {
    const list = sites.get(sensor.labels.site);
    if (list) list.push(sensor);
    else sites.set(sensor.labels.site, [sensor]);
  }
  return sites;
}

/** The limit of a directory name in common file systems, in bytes. */
const MAX_DIRECTORY_BYTES = 255;

/**
 * Readers of data sets decode percent-encoded names, so all characters except a-z, A-Z, digits and a few marks are encoded. If the name is
 * too long for a directory, characters of other alphabets are not encoded. If it is still too long, a digest of the site replaces it. A
 * device chooses its site, and one device must not stop the export of all others.
 */
function directoryOf(site: string): string {
  const encoded = `site=${encodeURIComponent(site)}`;
  if (encoded.length <= MAX_DIRECTORY_BYTES) return encoded;
  const plain = `site=${site.replaceAll(/[\0-\x7f]/g, (char) => encodeURIComponent(char))}`;
  if (Buffer.byteLength(plain) <= MAX_DIRECTORY_BYTES) return plain;
  return `site=${createHash('sha256').update(site).digest('hex')}`;
}

/**
 * Sensors without a site are in `site=`, since no site has an empty name. The usual name of a missing value is
 * `__HIVE_DEFAULT_PARTITION__`, but pandas 3.1 cannot read a data set that has both this name and names of sites.
 */
const partitionOf = (site: string | null, day: number): string =>
  join(directoryOf(site ?? ''), `day=${new Date(day).toISOString().slice(0, 10)}`);

/** Null: there are no samples, so no file was written. */
async function writePart(
  path: string,
  source: AsyncGenerator<Samples, void>,
): Promise<{ samples: number; bytes: number } | null> {
  const first = await source.next();
  if (first.done) return null;
  const head = first.value;
  let samples = 0;
  let bytes = 0;
  async function* all() {
    yield head;
    samples += head.to - head.from;
    for await (const more of source) {
      yield more;
      samples += more.to - more.from;
    }
  }
  await mkdir(dirname(path), { recursive: true });
  const unfinished = `${path}.new`;
  const file = await open(unfinished, 'w');
  try {
    for await (const chunk of encodeParquet(all(), DATA_SET_LABELS)) {
      await file.writeFile(chunk);
      bytes += chunk.length;
    }
    await file.close();
    await rename(unfinished, path);
  } catch (error) {
    await file.close();
    await rm(unfinished, { force: true });
    throw error;
  }
  return { samples, bytes };
}
