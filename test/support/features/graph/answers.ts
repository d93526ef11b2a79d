import type { AssetTree } from '../../../../api/features/assets/tree/index.ts';
import type { Gremlin } from '../../../../api/features/graph/gremlin.ts';
import { query } from '../../../../api/features/graph/query.ts';
import { TRAVERSALS } from '../../../../api/features/graph/traversals.ts';
import { DAY_MS } from '../../../../schema/rules.ts';

type Row = Record<string, unknown>;

/** The tree of the log, the sensors of the registry, and the alarms. */
export interface Tables {
  tree: AssetTree;
  /** with the id of their device */
  sensors: Array<{ device: string; id: string; name: string }>;
  alarms: Array<{ device: string; sensor: string; opened: number }>;
}

/** The answers of all traversals, computed from the tables. Ids as the command prints them. `at`: epoch ms. */
export function answersOf({ tree, sensors, alarms }: Tables, at: number) {
  const row = (id: string): Row => ({ id, name: tree.asset(id, at)?.name });
  const key = ({ device, id }: { device: string; id: string }) => `${device}/${id}`;
  const children = (id: string | null) => [...tree.children(id, at)].map((child) => child.id);
  const below = (id: string | null): string[] => children(id).flatMap((child) => [child, ...below(child)]);
  const all = below(null);
  const depth = (id: string | null): number => Math.max(0, ...children(id).map((child) => 1 + depth(child)));
  const isIn = (time: number, spanMs: number) => time > at - spanMs && time <= at;
  const direct = (id: string) => [...tree.membersBetween(id, at, at + 1)];

  const sensorsBelow = (asset: string) =>
    sensors.filter(({ device, id }) => {
      const place = tree.assetAt(device, id, at);
      return place !== null && [asset, ...below(asset)].includes(place);
    });

  function* cameTo(): Generator<Row> {
    for (const asset of tree.ids()) {
      for (const { asset: child, from } of tree.childrenBetween(asset, 0, Number.POSITIVE_INFINITY))
        if (isIn(from, 7 * DAY_MS)) yield { id: child, to: asset, since: from };
      for (const { device, sensor, from } of tree.membersBetween(asset, 0, Number.POSITIVE_INFINITY))
        if (isIn(from, 7 * DAY_MS))
          yield { id: sensor === null ? device : `${device}/${sensor}`, to: asset, since: from };
    }
  }

  function* alarmed(): Generator<Row> {
    const open = new Set(
      alarms
        .filter(({ opened }) => isIn(opened, 300_000))
        .map(({ device, sensor }) => key({ device, id: sensor })),
    );
    for (const [device = '', sensor = ''] of [...open].map((each) => each.split('/'))) {
      const place = tree.assetAt(device, sensor, at);
      const line = place && tree.lineage(place, at).find(({ level }) => level === 'line')?.id;
      if (!line) continue;
      for (const neighbor of sensorsBelow(line))
        if (key(neighbor) !== `${device}/${sensor}`)
          yield { alarmed: `${device}/${sensor}`, line, sensor: key(neighbor) };
    }
  }

  return {
    children: (asset: string) => children(asset).map(row),
    path: (asset: string) => tree.lineage(asset, at).map(({ id }) => row(id)),
    siblings: (asset: string) =>
      children(tree.parentAt(asset, at))
        .filter((id) => id !== asset)
        .map(row),
    devices: (asset: string) =>
      direct(asset).flatMap(({ device, sensor }) =>
        sensor === null ? { id: device, name: tree.device(device)?.name } : [],
      ),
    sensors: (asset: string) => sensorsBelow(asset).map((sensor) => ({ id: key(sensor), name: sensor.name })),
    moved: () => [...cameTo()],
    alarmed: () => [...alarmed()],
    depth: () => (all.length === 0 ? [] : [{ depth: depth(null) }]),
    empty: () => all.filter((id) => children(id).length === 0 && direct(id).length === 0).map(row),
    levels: () => {
      const levels = all.map((id) => tree.asset(id)?.level);
      return [...new Set(levels)].map((level) => ({
        level,
        count: levels.filter((each) => each === level).length,
      }));
    },
  } satisfies Record<keyof typeof TRAVERSALS, (asset: string) => Row[]>;
}

/** Rows have no order, and neither have their members. */
const canonical = (rows: Row[]) => rows.map((row) => JSON.stringify(Object.entries(row).sort())).sort();

/**
 * Compares all answers of the graph with those of the tables, for each asset and time.
 * @returns the differences in words, and the number of rows by traversal
 */
export async function compareAnswers(
  gremlin: Gremlin,
  tables: Tables,
  { assets, times }: { assets: string[]; times: number[] },
) {
  const differences: string[] = [];
  const rows: Record<string, number> = {};
  for (const at of times) {
    for (const [name, expected] of Object.entries(answersOf(tables, at))) {
      const { ofAsset } = TRAVERSALS[name as keyof typeof TRAVERSALS];
      for (const asset of ofAsset ? assets : [undefined]) {
        const lines = await query(gremlin, { name, asset, at, showsText: false });
        const found = canonical(lines.map((line) => JSON.parse(line)));
        const should = canonical(expected(asset ?? ''));
        rows[name] = (rows[name] ?? 0) + should.length;
        if (JSON.stringify(found) !== JSON.stringify(should))
          differences.push(
            `${name} ${asset ?? ''} at ${new Date(at).toISOString()}: ${found}, should be ${should}`,
          );
      }
    }
  }
  return { differences, rows };
}
