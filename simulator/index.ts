import { randomInt } from 'node:crypto';
import { runCommand } from '../common/command.ts';
import { readCommandSettings } from '../common/dev-addresses.ts';
import { readSettings } from '../common/settings/index.ts';
import { createStatusLine } from '../common/status-line.ts';
import { readFlags } from './flags.ts';
import { Instrument } from './instrument.ts';
import { Ledger } from './ledger/ledger.ts';
import { createMeter } from './meter.ts';
import { chooseBroker, shownUrl } from './mqtt/broker.ts';
import { unreachable } from './mqtt/connection-problems.ts';
import { latencyText, periodText, summaryText } from './report.ts';
import { runFleet } from './run-fleet.ts';
import { runReplay } from './run-replay.ts';
import { createStopSignal } from './stop-signal.ts';

/** A fleet of devices, or a recorded data set, against any broker. */
async function main(argv: string[]) {
  const flags = readFlags(argv);
  // `--broker` names another broker than the one of `npm run dev`.
  const settings = flags.broker === undefined ? readCommandSettings('broker') : readSettings();
  const broker = chooseBroker(settings, flags);
  const seed = flags.seed ?? randomInt(2 ** 31);
  const meter = createMeter();
  const statusLine = createStatusLine(process.stderr);
  const stopSignal = createStopSignal();
  const ledger =
    flags.ledger === undefined ? null : new Ledger({ path: flags.ledger, onFailed: stopSignal.stop });
  const print = (text: string) => {
    statusLine.clear();
    process.stdout.write(`${text}\n`);
  };
  const isOpen = flags.rate !== undefined;
  const instrument = new Instrument({
    meter,
    path: flags.report,
    onPeriod: (period) => isOpen && period.latency.count > 0 && print(periodText(period)),
  });
  const begin = () => {
    instrument.start();
    stopSignal.stopAfter(flags.duration);
  };
  try {
    const run = flags.replay === undefined ? runFleet : runReplay;
    await run({ flags, broker, seed, meter, ledger, statusLine, stopSignal, begin, print });
  } finally {
    instrument.stop();
    ledger?.close();
    stopSignal.dispose();
    statusLine.clear();
  }
  const end = meter.totals();
  const from = isOpen ? 'when it was to be sent' : 'its sending';
  print(summaryText(end));
  print(latencyText(end.latency, from));
  instrument.write({ flags: { ...flags, broker: shownUrl(broker.url), seed }, latencyFrom: from });
  const expected = isOpen || end.made.samples > 0;
  if (expected && end.acknowledged.samples === 0) throw unreachable(broker.url);
}

await runCommand(() => main(process.argv.slice(2)));
