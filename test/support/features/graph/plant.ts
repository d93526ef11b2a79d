import { ASSET_LEVELS } from '../../../../api/features/assets/tree/levels.ts';
import type { Store } from '../../../../api/store/index.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { DAY_MS } from '../../../../schema/rules.ts';
import { createRandom } from '../../../../simulator/random.ts';
import { createTestTree, EDITOR, member } from '../assets/tree.ts';

/** Edits lie on the days before now, so that a query of a week sees some of them. */
const PAST_MS = 10 * DAY_MS;

export function createPlant({
  store,
  devices,
  seed,
}: {
  store: Store;
  /** names of the sensors, by the name of their device */
  devices: Record<string, string[]>;
  seed: number;
}) {
  const plant = createTestTree({ store, clock: Date.now });
  const { tree, edits } = plant;
  const generator = createRandom(seed, 'plant');
  const random = () => generator.uniform();
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T;
  const chance = (share: number) => random() < share;
  const inUse = () =>
    [...tree.ids()].flatMap((id) => tree.asset(id) ?? []).filter((asset) => !asset.isRetired);
  const since = () => (chance(0.3) ? undefined : Date.now() - Math.floor(random() * PAST_MS));
  let created = 0;

  async function create() {
    const parents = inUse().filter(({ level }) => level !== 'machine');
    const parent = parents.length === 0 || chance(0.1) ? null : pick(parents);
    const levels = ASSET_LEVELS.slice(parent ? ASSET_LEVELS.indexOf(parent.level) + 1 : 0);
    const name = `asset ${created++}`;
    await edits.create(EDITOR, {
      name,
      level: levels[Math.min(levels.length - 1, Math.floor(random() * 2))] as (typeof levels)[number],
      parent: parent?.id ?? null,
    });
  }

  async function place() {
    const name = pick(Object.keys(devices));
    const path = chance(0.5) ? name : `${name}/${pick(devices[name] as string[])}`;
    const asset = chance(0.15) ? null : pick(inUse()).id;
    await edits.place(EDITOR, member(path), { asset, since: since() });
  }

  async function edit() {
    const kind = random();
    if (inUse().length < 6 || kind < 0.3) return create();
    const { id } = pick(inUse());
    if (kind < 0.65) return place();
    if (kind < 0.85) return edits.move(EDITOR, id, { parent: pick(inUse()).id, since: since() });
    if (kind < 0.95) return edits.change(EDITOR, id, { name: `renamed ${created++}`, since: since() });
    return edits.retire(EDITOR, id);
  }

  return {
    ...plant,

    /** Makes this number of edits that the tree accepts. */
    async edit(count: number) {
      const until = tree.version + count;
      while (tree.version < until) {
        await edit().catch((error) => {
          if (!(error instanceof MillraceError)) throw error;
        });
      }
    },
  };
}
