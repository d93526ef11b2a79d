/** Ingest of line protocol, for clients of InfluxDB such as Telegraf. */
import { type Core, defineFeature } from '../../feature.ts';
import { counted } from '../../observability/index.ts';
import { LineDecoder } from './decoder.ts';
import { routes } from './routes.ts';
import { PROBLEMS, SCHEMAS } from './schemas.ts';
import { LINE_SETTINGS } from './settings.ts';
import { LineSkip } from './skip.ts';
import type { LineResult } from './storing.ts';

export const lineProtocolFeature = defineFeature({
  name: 'line-protocol',
  settings: [LINE_SETTINGS],
  tags: { 'line-protocol': 'Ingest of line protocol, for clients of InfluxDB such as Telegraf.' },
  schemas: SCHEMAS,
  problems: PROBLEMS,
  routes,
  create: ({ context: { config, metrics }, ingest }) => ({
    deps: {
      decoder: new LineDecoder({
        deviceTags: config.of(LINE_SETTINGS).deviceTags,
        skip: new LineSkip(config.of(LINE_SETTINGS).skip),
        emptyBatch: (receivedAt) => ingest.decoder.emptyBatch(receivedAt),
      }),
      countLines: lineCounter(metrics),
    },
  }),
});

function lineCounter({ declare }: Core['context']['metrics']) {
  const help =
    'Lines of line protocol by result: stored, refused (in whole or in part), skipped (by LINE_SKIP)';
  const counter = declare.counter('iot_ingest_lines_total', help, 'result');
  counted(counter, 'result', ['stored', 'refused', 'skipped']);
  return ({ refusedLines, decoded: { lines, skippedLines } }: LineResult) => {
    counter.inc({ result: 'stored' }, lines - refusedLines - skippedLines);
    counter.inc({ result: 'skipped' }, skippedLines);
    counter.inc({ result: 'refused' }, refusedLines);
  };
}
