import { expect, test } from '@jest/globals';
import { connect } from '../../../api/store/connect.ts';
import { readBatchLimits } from '../../../api/store/sending/batch-limits.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { useCleanUps } from '../../support/clean-ups.ts';
import { startTestEngine } from '../../support/database/engine.ts';

const STARTS_MS = 300_000;

const afterwards = useCleanUps(STARTS_MS);

test(
  'Batch limits: Cassandra has other warn thresholds than the defaults: the client reads them from the server',
  async () => {
    const settings = {
      batch_size_warn_threshold: '16KiB',
      unlogged_batch_across_partitions_warn_threshold: '20',
    };
    const engine = await startTestEngine({ settings });
    afterwards(() => engine.dispose());
    const { cql } = readSettings({ CQL_CONTACT_POINTS: engine.contactPoint }, { envFile: '' });
    const client = await connect(cql, { applicationName: 'test' });
    afterwards(() => client.shutdown());
    expect(await readBatchLimits(client)).toEqual({ partitions: 20, bytes: 16 * 1024 });
  },
  STARTS_MS,
);
