import { setMaxListeners } from 'node:events';
import { connectStore } from '../../api/store/index.js';
import { runCommand } from '../../common/command.js';
import { MillraceError } from '../../common/errors.js';
import { readSettings } from '../../common/settings.js';
import { createStatusLine } from '../../common/status-line.js';
import { formatTime } from '../../common/times.js';
import { ROW_TABLE } from '../contenders/row-writes.js';
import { STORES } from '../contenders/stores.js';
import { createTables } from '../contenders/tables.js';
import { readFlags } from './flags.js';
import { fleetOf } from './fleet.js';
import { checkCluster } from './guard.js';
import { load, samplesIn } from './load.js';
import { createHistoryWriter, createMessageWriter } from './writers.js';

const format = new Intl.NumberFormat('en');

// npm run load: a large data set, the same each time, for everything that reads.
await runCommand(async () => {
  const config = readSettings();
  const flags = readFlags(process.argv.slice(2), Date.now());
  checkCluster(config.cql, flags.force);
  const line = createStatusLine(process.stderr);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal);
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort(signal));

  if (flags.into === 'rows') await createTables(config, [ROW_TABLE]);
  const open = flags.into === 'rows' ? /** @type {typeof connectStore} */ (STORES['rows']) : connectStore;
  const store = await open({
    cql: config.cql,
    retention: config.retention,
    observe: () => {},
    onStaleIndex: () => {},
  });
  const began = Date.now();
  const total = format.format(samplesIn(flags.fleet, flags.set));
  try {
    const { samples } = await load({
      store,
      write:
        flags.into === 'history'
          ? createHistoryWriter(store, began)
          : createMessageWriter(store, {
              samples: flags.batch,
              // Rows are for comparison alone, and nothing of them goes into history.
              arrival: flags.into === 'rows' ? (hour) => hour : Date.now,
            }),
      fleet: fleetOf({ ...flags.fleet, groups: config.retention.latestGroups }),
      set: flags.set,
      onProgress(samples) {
        const rate = Math.round((samples * 1000) / Math.max(1, Date.now() - began));
        line.update(`${format.format(samples)} of ${total} samples, ${format.format(rate)} a second`);
      },
      signal: stop.signal,
    });
    line.clear();
    const { from, to } = flags.set;
    console.log(
      `${format.format(samples)} samples into ${flags.into} in ${((Date.now() - began) / 1000).toFixed(1)} s: ${formatTime(from)} to ${formatTime(to)}.`,
    );
  } catch (error) {
    if (stop.signal.aborted)
      throw new MillraceError('failed', 'Stopped; the same flags begin anew, and do no harm.');
    throw error;
  } finally {
    await store.close();
  }
});
