import { connect } from '../../api/store/connect.js';
import { identifyDevice } from '../../schema/ids.js';
import { visitBlock } from '../../schema/packed/block.js';
import { bucketOf, HOUR_MS } from '../../schema/rules.js';
import { deviceName } from '../load/devices.js';

const SELECT = 'SELECT samples FROM message WHERE device_id = ? AND bucket = ? AND part = 0';

/** Partitions read at once. */
const AT_ONCE = 16;

/**
 * Counts what the database itself holds: no figure of ours is asked.
 *
 * @param {import('../../common/settings.js').Config['cql']} cql
 * @param {{ devices: number, from: number, to: number }} range devices 0 to `devices`, hours of `from` to `to` in epoch ms
 * @returns {Promise<number>} samples; what a load publishes has no instant twice
 */
export async function storedSamples(cql, { devices, from, to }) {
  const client = await connect(cql, { keyspace: cql.keyspace, applicationName: 'bench' });
  /** @param {number} number @param {number} bucket */
  async function samplesIn(number, bucket) {
    const params = [identifyDevice(deviceName(number))?.bytes, new Date(bucket)];
    let samples = 0;
    for await (const row of await client.execute(SELECT, params, { fetchSize: 500 })) {
      visitBlock(bucket, row['samples'], (_, series) => {
        samples += series().times.length;
      });
    }
    return samples;
  }
  const partitions = partitionsOf({ devices, from, to });
  let samples = 0;
  try {
    await Promise.all(
      Array.from({ length: AT_ONCE }, async () => {
        for (const { number, bucket } of partitions) {
          const found = await samplesIn(number, bucket);
          samples += found;
        }
      }),
    );
    return samples;
  } finally {
    await client.shutdown();
  }
}

/** @param {{ devices: number, from: number, to: number }} range */
function* partitionsOf({ devices, from, to }) {
  for (let bucket = bucketOf(from); bucket <= to; bucket += HOUR_MS) {
    for (let number = 0; number < devices; number++) yield { number, bucket };
  }
}
