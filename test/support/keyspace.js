import { connect } from '../../api/store/connect.js';

/** @import { Config } from '../../common/settings/config.js' */

/** A drop makes a snapshot of all tables. On a busy machine this takes longer than the usual 5 s of a request. */
const WITHIN_MS = 60_000;

/** @param {Config['cql']} cql whose keyspace is dropped, if it exists */
export async function dropKeyspace(cql) {
  const admin = await connect(cql, { applicationName: 'test' });
  try {
    const options = { prepare: false, readTimeout: WITHIN_MS };
    await admin.execute(`DROP KEYSPACE IF EXISTS ${cql.keyspace}`, [], options);
  } finally {
    await admin.shutdown();
  }
}
