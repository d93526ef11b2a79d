import { expect, test } from '@jest/globals';
import { MillraceError } from '../../../common/errors.ts';
import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { HOUR, useMemoryPath } from '../../support/history/memory-path.ts';

const CLOSING = HOUR + 2 * HOUR_MS;
const path = useMemoryPath();

test.each([251, 252, 254])(
  'Corrections that can no longer be undone, and %d late rows: the packer ends between two deletions: an undone correction stays undone',
  async (rows) => {
    const kept = { ts: HOUR + 3_000_000, value: 1 };
    await path.send('device', [kept]);
    path.clock.now = CLOSING;
    await path.packer().packDue();
    for (let n = 0; n < rows; n++) await path.send('device', [{ ts: HOUR + n * 1000, value: n + 1 }]);
    for (let n = 0; n < 4; n++) {
      const undoes = await path.correct('device', { samples: [{ ts: kept.ts, value: 50 + n }] });
      await path.correct('device', { undoes });
    }
    await path.correct('device', { spans: [{ from: HOUR, to: HOUR + rows * 1000 }] });
    expect(await path.read('device', HOUR)).toEqual([kept]);
    path.clock.now = CLOSING + 8 * DAY_MS + 3 * HOUR_MS;
    const { packing } = path.store;
    let calls = 0;
    const deleteSamples: typeof packing.deleteSamples = async (...args) => {
      if (++calls > 1) throw new MillraceError('rejected', 'the process ends');
      return packing.deleteSamples(...args);
    };
    await path
      .packer({ store: { ...path.store, packing: { ...packing, deleteSamples } } })
      .packDue()
      .catch(() => {});
    expect(await path.read('device', HOUR)).toEqual([kept]);
    await path.packer().packDue();
    expect(await path.read('device', HOUR)).toEqual([kept]);
  },
);
