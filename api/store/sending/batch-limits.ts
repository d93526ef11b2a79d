import type { Client } from 'cassandra-driver';
import { type BatchLimits, DEFAULT_LIMITS } from './write-merger.ts';

/** Also if Cassandra allows more. Larger batches save nothing, and each row of a failed batch is repeated alone. */
const MAX_LIMITS: BatchLimits = { partitions: 64, bytes: 32 * 1024 };

/** Cassandra (4.1 and newer) logs a warning for each batch above the values of these settings. */
const SIZE = 'batch_size_warn_threshold';
const PARTITIONS = 'unlogged_batch_across_partitions_warn_threshold';

const READ_SETTINGS = 'SELECT name, value FROM system_views.settings WHERE name IN ?';

/**
 * One node answers, so all nodes should have the same settings. Measured with messages of 50 sensors: limits of 64 partitions and 32 KiB,
 * instead of the defaults, reduce the CPU time of ingest to 0.9 times, and of the database to 0.85 times.
 * @returns `DEFAULT_LIMITS` if the settings cannot be read, for example by this role
 */
export async function readBatchLimits(client: Client): Promise<BatchLimits> {
  try {
    const { rows } = await client.execute(READ_SETTINGS, [[SIZE, PARTITIONS]]);
    const settings: Map<string, unknown> = new Map(rows.map((row) => [row['name'], row['value']]));
    return {
      bytes: Math.min(MAX_LIMITS.bytes, bytesIn(settings.get(SIZE)) ?? DEFAULT_LIMITS.bytes),
      partitions: Math.min(
        MAX_LIMITS.partitions,
        countIn(settings.get(PARTITIONS)) ?? DEFAULT_LIMITS.partitions,
      ),
    };
  } catch {
    return DEFAULT_LIMITS;
  }
}

const UNITS: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 };

function bytesIn(text: unknown): number | null {
  const [, number, unit = ''] = /^(\d+)(B|KiB|MiB|GiB)$/.exec(String(text)) ?? [];
  const factor = UNITS[unit];
  return number === undefined || factor === undefined ? null : Number(number) * factor;
}

const countIn = (text: unknown): number | null => (/^[1-9]\d*$/.test(String(text)) ? Number(text) : null);
