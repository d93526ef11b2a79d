import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from 'cassandra-driver';
import { MillraceError } from '../../common/errors.ts';
import { PART } from './installation.ts';

/** No statement of a migration takes that long. A lock that its owner does not renew then expires. */
const TTL_SECONDS = 60;

/**
 * The lock is a cell of the `installation` row, which lightweight transactions set and clear. The cell has a TTL, so
 * the lock expires when its owner dies.
 * @param work must call `keep` before each step. `keep` throws `unavailable` if this process has lost the lock, because
 *   it was suspended for too long, as on a sleeping laptop
 */
export async function withSchemaLock<T>(
  client: Client,
  work: (keep: () => Promise<void>) => Promise<T>,
  onStatus: (text: string) => void,
): Promise<T> {
  const owner = `${hostname()}:${process.pid}:${randomUUID()}`;
  await client.execute('INSERT INTO installation (part) VALUES (?) IF NOT EXISTS', [PART]);
  await take(client, owner, onStatus);
  const keep = () => renew(client, owner);
  const renewal = setInterval(
    () => keep().catch((error) => onStatus(`the schema lock could not be renewed: ${firstLine(error)}`)),
    (TTL_SECONDS * 1000) / 3,
  );
  try {
    return await work(keep);
  } finally {
    clearInterval(renewal);
    await release(client, owner).catch((error) =>
      onStatus(
        `the schema lock was not given back, and ends by itself in ${TTL_SECONDS} s: ${firstLine(error)}`,
      ),
    );
  }
}

async function take(client: Client, owner: string, onStatus: (text: string) => void) {
  for (;;) {
    const result = await client.execute(
      `UPDATE installation USING TTL ${TTL_SECONDS} SET lock_owner = ? WHERE part = ? IF lock_owner = null`,
      [owner, PART],
    );
    if (result.wasApplied()) return;
    // The driver may have repeated our statement: the first attempt was applied, and only its answer was lost.
    const holder = result.first()?.['lock_owner'];
    if (holder === owner) return;
    onStatus(`another process changes the schema (${holder}); waiting`);
    await sleep(500 + Math.random() * 500);
  }
}

async function renew(client: Client, owner: string) {
  const result = await client.execute(
    `UPDATE installation USING TTL ${TTL_SECONDS} SET lock_owner = ? WHERE part = ? IF lock_owner = ?`,
    [owner, PART, owner],
  );
  if (!result.wasApplied()) {
    throw new MillraceError('unavailable', 'The schema lock was lost to another process: run it again.');
  }
}

const release = (client: Client, owner: string) =>
  client.execute('UPDATE installation SET lock_owner = null WHERE part = ? IF lock_owner = ?', [PART, owner]);

/** Without the stack trace of a request that no node answered. */
const firstLine = (error: unknown) => String(error).split('\n', 1)[0];
