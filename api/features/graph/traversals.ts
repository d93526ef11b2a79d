import { DAY_MS, HOUR_MS } from '../../../schema/rules.ts';
import { hourVertex } from './vertices.ts';

/** The steps below repeat in many traversals. `at`: epoch ms. */
const VALID = "has('from', lte(at)).has('to', gt(at))";
const DOWN = `outE('child').${VALID}.inV().has('to', gt(at))`;
const UP = `inE('child').${VALID}.outV().hasLabel('asset')`;
/** A sensor without a place of its own is where its device is. */
const SENSORS = `outE('holds').${VALID}.inV().union(hasLabel('sensor'), hasLabel('device').out('has').not(inE('holds').${VALID}))`;
const PLACE = `coalesce(inE('holds').${VALID}.outV(), __.in('has').inE('holds').${VALID}.outV())`;
const NAME = `coalesce(properties('name').${VALID}.value(), constant(''))`;
const ROW = `project('id', 'name').by(id()).by(${NAME})`;
const ALL = `g.V('root').repeat(${DOWN}).emit()`;

const WEEK_MS = 7 * DAY_MS;
const ALARMED_MS = 5 * 60_000;

export interface Traversal {
  /** whether it begins at an asset */
  ofAsset: boolean;
  /** Gremlin; `asset`, `at`, `since` and `hours` are bound */
  text: string;
  /** in ms: `since` is this time before `at` */
  span?: number;
}

export const TRAVERSALS = {
  children: {
    ofAsset: true,
    text: `g.V(asset).${DOWN}.${ROW}`,
  },
  path: {
    ofAsset: true,
    text: `g.V(asset).emit().repeat(${UP}).${ROW}`,
  },
  siblings: {
    ofAsset: true,
    text: `g.V(asset).as('self').inE('child').${VALID}.outV().${DOWN}.where(neq('self')).${ROW}`,
  },
  devices: {
    ofAsset: true,
    text: `g.V(asset).outE('holds').${VALID}.inV().hasLabel('device').${ROW}`,
  },
  sensors: {
    ofAsset: true,
    text: `g.V(asset).emit().repeat(${DOWN}).${SENSORS}.dedup().${ROW}`,
  },
  moved: {
    ofAsset: false,
    span: WEEK_MS,
    text: "g.V('root').repeat(out('child').dedup()).emit().outE('child', 'holds').has('from', gt(since)).has('from', lte(at)).project('id', 'to', 'since').by(inV().id()).by(outV().id()).by('from')",
  },
  // Without `identity`, `emit` would belong to the repetition before it.
  alarmed: {
    ofAsset: false,
    span: ALARMED_MS,
    text: `g.V(hours).outE('alarm').has('opened', gt(since)).has('opened', lte(at)).inV().dedup().as('alarmed').${PLACE}.until(has('level', 'line')).repeat(${UP}).as('line').identity().emit().repeat(${DOWN}).${SENSORS}.where(neq('alarmed')).as('sensor').dedup('alarmed', 'sensor').select('alarmed', 'line', 'sensor').by(id())`,
  },
  depth: {
    ofAsset: false,
    text: `g.withSack(0).V('root').repeat(sack(sum).by(constant(1)).${DOWN}).emit().sack().max().project('depth').by(identity())`,
  },
  empty: {
    ofAsset: false,
    text: `${ALL}.not(${DOWN}).not(outE('holds').${VALID}).${ROW}`,
  },
  levels: {
    ofAsset: false,
    text: `${ALL}.groupCount().by('level').unfold().project('level', 'count').by(keys).by(values)`,
  },
} satisfies Record<string, Traversal>;

/** `hours`: the vertices that may have alarms since `since` */
export function bindingsOf({ span = 0 }: Pick<Traversal, 'span'>, at: number) {
  const since = at - span;
  const hours = [];
  for (let hour = Math.floor(since / HOUR_MS); hour <= Math.floor(at / HOUR_MS); hour++)
    hours.push(hourVertex(hour * HOUR_MS));
  return { at, since, hours };
}

/** `names`: the parts of a path at this time */
export const ASSET_BY_PATH = `names.inject(g.V('root')) { found, name -> found.${DOWN}.where(properties('name').${VALID}.hasValue(name)) }.id()`;
