import type { TestSystem } from './system/index.ts';

interface StoredDeadLetter {
  topic: string;
  device: string | null;
  /** bytes of the whole payload */
  size: number;
  sha256: Buffer;
  /** its beginning */
  payload: Buffer;
  codes: Record<string, number>;
  refused: { index: number; code: string }[];
}

/**
 * @param database of the system under test, or a client of the driver
 * @param device as in the topic; default: all devices
 * @returns in order of arrival
 */
export async function readDeadLetters(
  database: Pick<TestSystem, 'execute'>,
  device?: string,
): Promise<StoredDeadLetter[]> {
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
