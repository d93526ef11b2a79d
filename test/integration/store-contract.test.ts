import { describeCells } from '../support/store-contract/cells.ts';
import { describeEvents } from '../support/store-contract/events.ts';
import { describePacking } from '../support/store-contract/packing.ts';
import { describeSamples } from '../support/store-contract/samples.ts';
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
describeEvents(subject);
describeWatchedTime(subject);
