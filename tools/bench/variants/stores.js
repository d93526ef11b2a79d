import { connect } from '../../../api/store/connect.js';
import { connectStore } from '../../../api/store/index.js';
import { createSession } from '../../../api/store/session.js';
import { createHourRowWrites, createRowWrites } from './row-writes.js';
import { createTutorialWrites } from './tutorial-writes.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Store } from '../../../api/store/index.js' */
/** @import { Session } from '../../../api/store/session.js' */

/** @typedef {Parameters<typeof connectStore>[0]} StoreParts */

/** Tutorials keep no table of latest values: the newest row of each sensor's partition is it. */
const noLatest = { write: async () => {} };

/** How else a store could write; everything before it is our own ingest. @type {{ packed: typeof connectStore, [name: string]: typeof connectStore }} */
export const STORES = {
  packed: connectStore,
  'no-latest': async (parts) => ({ ...(await connectStore(parts)), latest: noLatest }),
  rows: (parts) => withOwnWrites(parts, ({ session }) => ({ measurements: createRowWrites(session) })),
  'hour-rows': (parts) =>
    withOwnWrites(parts, ({ session }) => ({ measurements: createHourRowWrites(session) })),
  tutorial: (parts) =>
    withOwnWrites(parts, ({ session, client }) => ({
      latest: noLatest,
      measurements: createTutorialWrites(session, client, gateOf(parts)),
    })),
  'tutorial-latest': (parts) =>
    withOwnWrites(parts, ({ session, client }) => ({
      measurements: createTutorialWrites(session, client, gateOf(parts)),
    })),
};

/**
 * @param {StoreParts} parts
 * @param {(own: { client: Client, session: Session }) => Partial<Store>} create
 * @returns {Promise<Store>}
 */
async function withOwnWrites(parts, create) {
  const store = await connectStore(parts);
  const client = await connect(parts.cql, { keyspace: parts.cql.keyspace, applicationName: 'bench' });
  const session = createSession(client, parts.observe, parts.gate);
  return {
    ...store,
    ...create({ client, session }),
    close: async () => {
      await Promise.all([store.close(), client.shutdown()]);
    },
  };
}

/** The caller that measures the tutorial's way bounds its requests. @param {StoreParts} parts */
function gateOf({ gate }) {
  if (!gate) throw new TypeError('the tutorial needs a gate');
  return gate;
}
