import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.js';
import { PART } from './installation.js';

/** @import { Client } from 'cassandra-driver' */

/** A lock that its owner does not renew expires after this time, in s. No statement of a migration takes that long. */
const TTL_SECONDS = 60;

/**
 * Runs `work` while no other process changes the schema. The lock is a cell of the `installation` row, which lightweight transactions set
 * and clear. The cell has a TTL, so the lock expires when its owner dies.
 *
 * @template T
 * @param {Client} client
 * @param {(keep: () => Promise<void>) => Promise<T>} work must call `keep` before each step. `keep` throws `unavailable` if this process
 *   has lost the lock, because it was suspended for too long, as on a sleeping laptop
 * @param {(text: string) => void} onStatus called when another process holds the lock, or when the lock cannot be renewed or released
 * @returns {Promise<T>} the result of `work`
 */
export async function withSchemaLock(client, work, onStatus) {
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

/** @param {Client} client @param {string} owner @param {(text: string) => void} onStatus */
async function take(client, owner, onStatus) {
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

/** @param {Client} client @param {string} owner */
async function renew(client, owner) {
  const result = await client.execute(
    `UPDATE installation USING TTL ${TTL_SECONDS} SET lock_owner = ? WHERE part = ? IF lock_owner = ?`,
    [owner, PART, owner],
  );
  if (!result.wasApplied()) {
    throw new MillraceError('unavailable', 'The schema lock was lost to another process: run it again.');
  }
}

/** @param {Client} client @param {string} owner */
const release = (client, owner) =>
  client.execute('UPDATE installation SET lock_owner = null WHERE part = ? IF lock_owner = ?', [PART, owner]);

/** Cuts the stack trace from the driver's message about a request that no node answered. @param {unknown} error */
const firstLine = (error) => String(error).split('\n', 1)[0];
