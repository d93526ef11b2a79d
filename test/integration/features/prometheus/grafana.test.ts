import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, expect, test } from '@jest/globals';
import { DAY_MS, dayOf, HOUR_MS } from '../../../../schema/rules.ts';
import { send } from '../../../support/http/index.ts';
import { useHistorySystem } from '../../../support/system/history.ts';

// The requests that the dashboards of measurements make, as the data source sends them, and the shapes that it reads.

const BEGIN = dayOf(Date.now() - 20 * DAY_MS);
const DASHBOARDS = 'infra/monitoring/grafana/measurements/dashboards';
const SITE = 'Café & "Keller"';

const world = useHistorySystem(BEGIN);

/** Values of Grafana's variables. */
const VARIABLES = {
  __from: String(BEGIN),
  __to: String(BEGIN + 30 * HOUR_MS),
  __interval: '1m',
  site: SITE,
  device: 'fridge',
  type: 'temperature',
  tz: 'Europe/Berlin',
};

type Target = {
  url: string;
  root_selector: string;
  url_options: { method: string; params: Array<{ key: string; value: string }> };
  columns: Array<{ selector: string; type: string }>;
};

const TARGETS: Array<[title: string, target: Target]> = readdirSync(DASHBOARDS).flatMap((file) => {
  const { panels, templating } = JSON.parse(readFileSync(`${DASHBOARDS}/${file}`, 'utf8'));
  return [
    ...panels.map(({ title, targets }: { title: string; targets: unknown[] }) => [
      `${file}: ${title}`,
      targets[0],
    ]),
    ...templating.list
      .filter(({ type }: { type: string }) => type === 'query')
      .map(({ name, query }: { name: string; query: { infinityQuery: object } }) => [
        `${file}: variable ${name}`,
        query.infinityQuery,
      ]),
  ];
});

/** Replaces variables as Grafana does. */
const interpolated = (text: string, variables: Record<string, string>) =>
  text.replaceAll(/\$\{?(\w+)\}?/g, (_, name) => {
    expect(variables).toHaveProperty(name);
    return String(variables[name]);
  });

async function ask(
  { url, url_options, root_selector }: Target,
  variables: Record<string, string>,
): Promise<never[]> {
  const params = new URLSearchParams(
    url_options.params.map(({ key, value }) => [key, interpolated(value, variables)]),
  );
  const headers = { Accept: '*/*', 'User-Agent': 'Grafana' };
  const { status, text } = await send(world.system.httpUrl, `${url}?${params}`, { headers });
  expect([status, text]).toEqual([200, expect.any(String)]);
  return JSON.parse(text)[root_selector];
}

/** The values that each column type of the data source accepts. */
const TAKES: Record<string, (value: unknown) => boolean> = {
  timestamp: (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value)),
  number: (value) => typeof value === 'number',
  string: (value) => typeof value === 'string',
  boolean: (value) => typeof value === 'boolean',
};

beforeAll(async () => {
  const sensors = [{ sensor_id: 's', type: 'temperature', unit: 'Cel' }];
  await world.device.birth('fridge', { site: SITE, sensors });
  await world.lay(
    'fridge',
    [0, 1, 26].map((hour) => ({
      hour: BEGIN + hour * HOUR_MS,
      fate: 'packed',
      samples: [5, 25, 45].map((minute) => [BEGIN + hour * HOUR_MS + minute * 60_000, minute / 10]),
    })),
  );
});

test.each(TARGETS)(
  'Grafana dashboard: query %s: the API returns rows, and each column has the type that Grafana expects',
  async (_, target) => {
    for (const __interval of ['5s', '30s', '1m', '1h', '1d', '1y']) {
      const items = await ask(target, { ...VARIABLES, __interval });
      expect(items.length).toBeGreaterThan(0);
      for (const { selector, type } of target.columns) {
        const values = items.map((item) => item[selector]).filter((value) => value !== null);
        expect(values.length).toBeGreaterThan(0);
        expect(values.every((value) => TAKES[type]?.(value))).toBe(true);
      }
    }
  },
);
