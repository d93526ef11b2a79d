import { runCommand } from '../../../common/command.ts';
import { readCommandSettings } from '../../../common/dev-addresses.ts';
import { MillraceError } from '../../../common/errors.ts';
import { createStatusLine } from '../../../common/status-line.ts';
import { abortOnStop } from '../../../common/stop-signal.ts';
import { formatTime } from '../../../common/times.ts';
import { build, samplesIn } from './build.ts';
import { checkCluster, readFlags } from './flags.ts';

const format = new Intl.NumberFormat('en');

// npm run load: writes a large data set for measurements of reads. The same flags write the same data.
await runCommand(async () => {
  const flags = readFlags(process.argv.slice(2), Date.now());
  const config = readCommandSettings('database');
  checkCluster(config.cql, flags.force);
  const line = createStatusLine(process.stderr);
  const signal = abortOnStop();

  const began = Date.now();
  const total = format.format(samplesIn(flags.fleet, flags.set));
  try {
    const { samples } = await build({
      ...flags,
      config,
      into: 'history',
      onProgress: (samples) => line.update(`${format.format(samples)} of ${total} samples`),
      signal,
    });
    line.clear();
    const { from, to } = flags.set;
    console.log(
      `${format.format(samples)} samples in ${((Date.now() - began) / 1000).toFixed(1)} s: ${formatTime(from)} to ${formatTime(to)}.`,
    );
    if (flags.fleet.tree.length > 0)
      console.log('The API places the devices in the tree of assets at its start, or within 15 minutes.');
  } catch (error) {
    if (signal.aborted)
      throw new MillraceError('failed', 'Stopped. The same flags write the same samples again.');
    throw error;
  }
});
