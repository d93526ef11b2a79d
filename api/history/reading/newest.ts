import { DAY_MS } from '../../../schema/rules.ts';
import type { Context } from '../../observability/index.ts';
import type { Sensor } from './hours.ts';
import type { Reading } from './index.ts';

/** Finds the newest sample of a sensor, as all corrections leave it. */
export const createFindNewest =
  (reading: Pick<Reading, 'page'>, { clock, config }: Pick<Context, 'clock' | 'config'>) =>
  async (sensor: Sensor): Promise<{ ts: number; value: number } | null> => {
    const now = clock();
    const from = now - config.retention.historyDays * DAY_MS;
    let to = now + config.ingest.maxClockSkewMs + 1;
    // A page of empty hours ends before the range does.
    while (from < to) {
      const page = await reading.page(sensor, { from, to }, { order: 'desc', limit: 1 });
      const [ts, value] = [page.times[0], page.values[0]];
      if (ts !== undefined && value !== undefined) return { ts, value };
      if (page.reached === null) return null;
      to = page.reached;
    }
    return null;
  };
