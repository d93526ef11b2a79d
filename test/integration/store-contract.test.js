import { describeCells } from '../support/store-contract/cells.js';
import { describePacking } from '../support/store-contract/packing.js';
import { describeSamples } from '../support/store-contract/samples.js';
import { describeStreaming } from '../support/store-contract/streaming.js';
import { describeWatchedTime } from '../support/store-contract/watched-time.js';
import { useStoredSystem } from '../support/system/stored.js';
import { until } from '../support/until.js';

const stored = useStoredSystem({});

const subject = () => ({
  store: stored.store(),
  database: stored.database(),
  afterTwoSeconds: async (/** @type {() => Promise<boolean>} */ isExpired) => {
    await until(isExpired, { what: 'expiry' });
  },
});

describeCells(subject);
describeSamples(subject);
describePacking(subject);
describeStreaming(subject);
describeWatchedTime(subject);
