/**
 * A dead letter as the database has it.
 *
 * @typedef {object} StoredDeadLetter
 * @property {string} topic
 * @property {string | null} device
 * @property {number} size bytes of the whole payload
 * @property {Buffer} sha256
 * @property {Buffer} payload its beginning
 * @property {Record<string, number>} codes
 * @property {{ index: number, code: string }[]} refused
 */

/** @import { TestSystem } from './system/index.js' */

/**
 * @param {Pick<TestSystem, 'execute'>} database of the system under test, or a client of the driver
 * @param {string} [device] as in the topic; default: all devices
 * @returns {Promise<StoredDeadLetter[]>} in order of arrival
 */
export async function readDeadLetters(database, device) {
  // The keyspace of a test has only a few dead letters, so a scan is acceptable.
  const { rows } = await database.execute(
    'SELECT id, topic, device, size, sha256, payload, codes, refused FROM dead_letter',
    [],
    { fetchSize: 5000 },
  );
  return rows
    .filter((row) => device === undefined || row['device'] === device)
    .sort((a, b) => a['id'].getDate() - b['id'].getDate())
    .map(({ topic, device: deviceName, size, sha256, payload, codes, refused }) => ({
      topic,
      device: deviceName,
      size,
      sha256,
      payload,
      codes,
      refused: refused === null ? [] : JSON.parse(refused),
    }));
}
