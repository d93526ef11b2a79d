import { randomInt } from 'node:crypto';
import { runCommand } from '../common/command.js';
import { MillraceError } from '../common/errors.js';
import { readSettings } from '../common/settings.js';
import { createStatusLine } from '../common/status-line.js';
import { readFlags } from './flags.js';
import { createMeter } from './meter.js';
import { chooseBroker, shownUrl } from './mqtt/broker.js';
import { summaryText } from './report.js';
import { runFleet } from './run-fleet.js';
import { runReplay } from './run-replay.js';
import { createStopSignal } from './stop-signal.js';

/**
 * The simulator: a fleet of devices, or a recorded data set, against any broker.
 *
 * @param {string[]} argv
 */
async function main(argv) {
  const flags = readFlags(argv);
  const broker = chooseBroker(readSettings().mqtt, flags.broker);
  const seed = flags.seed ?? randomInt(2 ** 31);
  const meter = createMeter();
  const statusLine = createStatusLine(process.stderr);
  const stopSignal = createStopSignal({ afterMs: flags.duration });
  const say = (/** @type {string} */ text) => {
    statusLine.clear();
    process.stdout.write(`${text}\n`);
  };
  try {
    const run = flags.replay === undefined ? runFleet : runReplay;
    await run({ flags, broker, seed, meter, statusLine, stopSignal, say });
  } finally {
    stopSignal.dispose();
    statusLine.clear();
  }
  const end = meter.snapshot();
  say(summaryText(end));
  if (end.made > 0 && end.acknowledged === 0) {
    throw new MillraceError(
      'broker_away',
      `No measurement was acknowledged by ${shownUrl(broker.url)}. Check that the broker runs there and that what ` +
        'takes the measurements can store them.',
    );
  }
}

await runCommand(() => main(process.argv.slice(2)));
