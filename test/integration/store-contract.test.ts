import { describeCells } from '../support/store-contract/cells.ts';
import { describePacking } from '../support/store-contract/packing.ts';
import { describeSamples } from '../support/store-contract/samples.ts';
import { describeStreaming } from '../support/store-contract/streaming.ts';
import { describeWatchedTime } from '../support/store-contract/watched-time.ts';
import { useStoredSystem } from '../support/system/stored.ts';
import { until } from '../support/until.ts';

const stored = useStoredSystem({});

const subject = () => ({
  store: stored.store(),
  database: stored.database(),
  afterTwoSeconds: async (isExpired: () => Promise<boolean>) => {
    await until(isExpired, { what: 'expiry' });
  },
});

describeCells(subject);
describeSamples(subject);
describePacking(subject);
describeStreaming(subject);
describeWatchedTime(subject);
