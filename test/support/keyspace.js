import { connect } from '../../api/store/connect.js';

/** @import { Config } from '../../common/settings/config.js' */

/** Dropping takes the server a snapshot of everything; on a busy machine that is more than a request's usual 5 s. */
const WITHIN_MS = 60_000;

/** @param {Config['cql']} cql whose keyspace goes, if it is there */
export async function dropKeyspace(cql) {
  const admin = await connect(cql, { applicationName: 'test' });
  try {
    const patient = { prepare: false, readTimeout: WITHIN_MS };
    await admin.execute(`DROP KEYSPACE IF EXISTS ${cql.keyspace}`, [], patient);
  } finally {
    await admin.shutdown();
  }
}
