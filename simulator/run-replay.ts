import { MillraceError } from '../common/errors.ts';
import { replayedDevice } from './flags.ts';
import { brokerFor, shownUrl } from './mqtt/broker.ts';
import { ConnectionProblemReporter, refusal } from './mqtt/connection-problems.ts';
import { ENCODERS } from './payloads/index.ts';
import { EARLIEST_SENML_MS, isSenmlName } from './payloads/senml.ts';
import { createReplay } from './replay/replay.ts';
import type { Skipped } from './replay/samples.ts';
import { createTimeline, type Survey, surveyFile } from './replay/survey.ts';
import { statusText } from './report.ts';
import type { Run } from './run-fleet.ts';

/** If the broker is not reached in this time, the replay fails. */
const FIRST_CONNECT_MS = 30_000;

/** Runs until the broker has acknowledged all rows. @throws `usage` for a file without rows to replay; `broker_away` */
export async function runReplay({ flags, broker, meter, ledger, statusLine, stopSignal, begin, print }: Run) {
  const path = flags.replay as string;
  begin();
  statusLine.update(`Reading ${path} for its columns and times`);
  const survey = await surveyFile(path, (rows) => {
    statusLine.update(`Reading ${path} for its columns and times: ${rows} rows`);
    if (stopSignal.signal.aborted) throw new MillraceError('failed', 'Stopped before anything was sent.');
  });
  const now = Date.now();
  const timeline = createTimeline({ last: survey.last, now, speed: flags.speed });
  const device = replayedDevice({ ...flags, replay: path });
  const format = survey.columns.every(({ name }) => isSenmlName(name)) ? flags.format : 'json';
  if (timeline(survey.first) < EARLIEST_SENML_MS) throw new MillraceError('usage', tooFarBack(path));
  for (const line of announcement({ path, survey, device, format, timeline, url: broker.url })) print(line);

  const trouble = new ConnectionProblemReporter(statusLine);
  const replay = createReplay({
    path,
    survey,
    device,
    timeline,
    speed: flags.speed,
    rowsPerMessage: flags.rows,
    broker: brokerFor(broker, device),
    encode: ENCODERS[format] as (typeof ENCODERS)[string],
    meter,
    ledger,
    onTrouble: (reason) => trouble.report(reason),
    onRefused: (reason) => stopSignal.stop(refusal(broker, reason)),
  });
  const givesUp = setTimeout(() => {
    if (meter.snapshot().acknowledged === 0 && !replay.connected()) stopSignal.stop('no broker');
  }, FIRST_CONNECT_MS);
  const total = survey.rows * survey.columns.length;
  const showing = setInterval(() => {
    const snapshot = meter.snapshot();
    if (replay.connected()) trouble.over();
    const percent = Math.floor((100 * snapshot.made) / total);
    statusLine.update(statusText(`${percent} % of ${path}`, snapshot));
  }, 1000);
  try {
    await replay.run(stopSignal.signal);
  } finally {
    clearTimeout(givesUp);
    clearInterval(showing);
  }
  if (stopSignal.signal.reason instanceof MillraceError) throw stopSignal.signal.reason;
  for (const line of skippedLines(replay.skipped)) print(line);
}

const tooFarBack = (path: string) =>
  `The first row of ${path} would be replayed before 1979; compress its times with a larger --speed.`;

function announcement({
  path,
  survey,
  device,
  format,
  timeline,
  url,
}: {
  path: string;
  survey: Survey;
  device: string;
  format: string;
  timeline: (ts: number) => number;
  url: string;
}) {
  const from = new Date(timeline(survey.first)).toISOString();
  const to = new Date(timeline(survey.last)).toISOString();
  const names = survey.columns.map(({ name }) => name).join(', ');
  const lines = [
    `${path}: ${survey.rows} rows as device ${device} with ${names} on ${shownUrl(url)}, as ${format}`,
    `Its times become ${from} to ${to}`,
  ];
  if (survey.textColumns.length > 0) lines.push(`Not numbers, left out: ${survey.textColumns.join(', ')}`);
  return lines;
}

function skippedLines({ empty, unreadable, untimed, colliding }: Skipped): string[] {
  const lines = [];
  if (empty > 0) lines.push(`${empty} empty cells skipped`);
  if (unreadable > 0) lines.push(`${unreadable} cells skipped that are no number`);
  if (untimed > 0) lines.push(`${untimed} rows skipped that have no time`);
  if (colliding > 0) {
    lines.push(
      `${colliding} rows land on the millisecond of the row before; of such values only one is kept. Use a smaller --speed.`,
    );
  }
  return lines;
}
