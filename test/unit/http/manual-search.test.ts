import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import MiniSearch from 'minisearch';
import { GENERATED } from '../../../docs/.vitepress/generated.js';
import { searchSections } from '../../../docs/.vitepress/search.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

let index: MiniSearch;
beforeAll(() => {
  // The options of the search box of VitePress.
  index = new MiniSearch({ fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] });
  for (const name of readdirSync(DOCS, { recursive: true, encoding: 'utf8' })) {
    if (/^(?:[a-z-]+\/)?[\w-]+\.md$/.test(name)) index.addAll(sectionsOf(name));
  }
});

/** Splits a page as VitePress does: a section begins at each heading, and an empty section is left out. */
function sectionsOf(page: string) {
  const written = readFileSync(DOCS + page, 'utf8');
  const whole = written.replace(/<!--@include: .*\/([\w-]+)\.md-->/g, (_, name) => GENERATED[name]?.() ?? '');
  const text = whole.replaceAll(/\]\([^)]*\)|[`|]/g, ' ');
  const titles: string[] = [];
  return [...text.matchAll(/^(#{1,6}) (.*)\n([\s\S]*?)(?=^#{1,6} |$(?![\s\S]))/gm)].flatMap(
    ([, marks = '', title = '', content = ''], place) => {
      titles.splice(marks.length - 1, titles.length, title);
      const path = page.replace(/(?:README)?\.md$/, '');
      return content.trim()
        ? [{ id: `/docs/${path}#${place}`, title, titles: titles.slice(0, -1), text: content }]
        : [];
    },
  );
}

/** @returns sections, the best first */
const find = (words: string): string[] =>
  searchSections(index, words).map(({ id }) => id.replace('/docs/', ''));

/** What people search, and the page that answers. `#` begins a heading of the page. */
const QUESTIONS = [
  // needs of a new user
  ['ESP32', 'how-to/connect-a-device'],
  ['arduino', 'how-to/connect-a-device'],
  ['node-red', 'how-to/connect-a-device'],
  ['mqtt 5', 'reference/mqtt'],
  ['unit of a sensor', 'how-to/manage-devices'],
  ['rename a device', 'how-to/manage-devices'],
  ['retire a device', 'how-to/manage-devices'],
  ['delete a device', 'how-to/manage-devices'],
  ['remove device', 'how-to/manage-devices'],
  ['keep data longer', 'how-to/keep-data-longer'],
  ['retention', 'how-to/keep-data-longer'],
  ['port in use', 'how-to/when-a-port-is-in-use'],
  ['change port', 'how-to/when-a-port-is-in-use'],
  ['backup', 'how-to/back-up-and-restore'],
  ['restore', 'how-to/back-up-and-restore'],
  ['grafana', 'how-to/use-grafana'],
  ['telegraf', 'how-to/connect-telegraf'],
  ['influxdb line protocol', 'how-to/connect-telegraf'],
  ['acknowledge alarm', 'how-to/set-an-alarm'],
  ['alarm', 'how-to/set-an-alarm'],
  ['alarm webhook', 'how-to/receive-alarms'],
  ['slack', 'how-to/receive-alarms'],
  ['email alert', 'how-to/receive-alarms'],
  ['username password mqtt', 'how-to/device-credentials'],
  ['device password', 'how-to/device-credentials'],
  ['import csv', 'how-to/import-old-measurements'],
  ['old data', 'how-to/import-old-measurements'],
  ['decimal comma', 'how-to/import-old-measurements'],
  ['pandas', 'how-to/use-python'],
  ['python', 'how-to/use-python'],
  ['zigbee', 'how-to/map-your-topics'],
  ['flat json own topic', 'how-to/map-your-topics'],
  ['chirpstack', 'how-to/map-your-topics'],
  ['home assistant', 'how-to/connect-home-assistant'],
  ['sparkplug', 'how-to/connect-sparkplug'],
  ['mosquitto', 'how-to/use-mosquitto'],
  // other programs
  ['kafka', 'how-to/stream-to-kafka'],
  ['parquet', 'how-to/export-to-parquet'],
  ['export', 'how-to/export-to-parquet'],
  ['typescript client', 'how-to/generate-a-client'],
  ['promql', 'how-to/use-grafana'],
  ['prometheus', 'how-to/monitor'],
  // operation
  ['docker', 'how-to/deploy-with-compose'],
  ['docker compose', 'how-to/deploy-with-compose'],
  ['kubernetes', 'how-to/deploy-to-kubernetes'],
  ['terraform', 'how-to/deploy-the-database'],
  ['systemd', 'how-to/run-as-a-service'],
  ['https', 'how-to/use-tls'],
  ['ssl certificates', 'how-to/use-tls'],
  ['disk full', 'how-to/when-a-disk-is-full'],
  ['operate a cluster', 'how-to/operate-a-cluster'],
  ['api token', 'how-to/protect-the-api'],
  ['why was my message refused', 'how-to/replay-dead-letters'],
  ['dead letter', 'how-to/replay-dead-letters'],
  ['replay', 'how-to/replay-dead-letters'],
  ['load test', 'how-to/load-test'],
  ['benchmark', 'how-to/run-the-benchmark'],
  // reference and explanation
  ['HISTORY_DAYS', 'how-to/keep-data-longer'],
  ['HTTP_PORT', 'how-to/when-a-port-is-in-use'],
  ['not_numeric', 'reference/errors'],
  ['iot_ingest_window', 'reference/metrics'],
  ['server-sent events', 'reference/http'],
  ['sizing', 'explanation/sizing'],
  ['birth', 'tutorial/your-first-sensor'],
] as const;

test.each(QUESTIONS)('Search of the manual: query %s: the first result is on the page %s', (words, page) => {
  expect(find(words)[0]?.replace(/#.*/, '')).toBe(page);
});

test.each(['scale ingest', 'node', 'credentials', 'timezone'])(
  'Search of the manual: query %s: the first result is no decision record and no benchmark',
  (words) => {
    expect(find(words)[0]).toMatch(/^(?:how-to|tutorial|reference)/);
  },
);

test('Search of the manual: a word that is on no page: the words that are on a page still find it', () => {
  expect(find('xyzzy kafka')[0]).toMatch(/^how-to\/stream-to-kafka/);
  expect(find('xyzzy')).toEqual([]);
  expect(find('constructor')).toEqual(expect.any(Array));
});
