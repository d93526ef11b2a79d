import pino from 'pino';
import { Steps } from '../../../../api/background/index.ts';
import { AssetTree } from '../../../../api/features/assets/tree/asset-tree.ts';
import { AssetEdits } from '../../../../api/features/assets/tree/edits.ts';
import type { Level } from '../../../../api/features/assets/tree/levels.ts';
import { AssetLog } from '../../../../api/features/assets/tree/log.ts';
import { SiteAssets } from '../../../../api/features/assets/tree/site-assets.ts';
import { createAssetStore } from '../../../../api/features/assets/tree/store.ts';
import type { Store } from '../../../../api/store/index.ts';
import { Retry } from '../../../../api/store/index.ts';
import {
  type Identity,
  identifyDevice,
  identifySensor,
  type SensorIdentity,
} from '../../../../schema/ids.ts';
import { createMemoryStore } from '../../memory-store/index.ts';

export const EDITOR = 'token';

export const device = (name: string) => identifyDevice(name) as Identity;

/** @param path names of a device and of one of its sensors, with a slash */
export function member(path: string): { device: Identity; sensor: SensorIdentity | null } {
  const [name = '', sensorName] = path.split('/');
  const { id } = device(name);
  return { device: device(name), sensor: sensorName === undefined ? null : identifySensor(id, sensorName) };
}

const logger = pino({ level: 'silent' });

/** Makes the parts of a process that know the tree of assets, on a store that other processes may share. `clock`: epoch ms. */
export function createTestTree({ store, clock }: { store: Store; clock: () => number }) {
  const tree = new AssetTree();
  const log = new AssetLog({
    tree,
    store: createAssetStore(store.session),
    clock,
    logger,
    everyMs: 60_000,
  });
  const steps = new Steps({
    retry: new Retry({ logger, onRetry: () => {} }),
    isPressed: () => false,
    overdueMs: () => 0,
  });
  const sites = new SiteAssets({
    log,
    fleet: store.fleet,
    clock,
    logger,
    steps,
    batchMs: 60_000,
    sweepMs: 60_000,
  });
  const edits = new AssetEdits({ log, clock });

  const idOf = (path: string): string => {
    const asset = tree.byPath(path);
    if (!asset) throw new RangeError(`there is no asset ${path}`);
    return asset.id;
  };

  return {
    tree,
    log,
    edits,
    sites,
    idOf,

    /** Creates assets. @param levels by path, parents first */
    async create(levels: Record<string, Level>) {
      for (const [path, level] of Object.entries(levels)) {
        const names = path.split('/');
        const above = names.slice(0, -1).join('/');
        const parent = above === '' ? null : idOf(above);
        await edits.create(EDITOR, { name: names.at(-1) ?? '', level, parent });
      }
    },

    /** @param asset path; null: nowhere */
    place: (path: string, asset: string | null, since?: number) =>
      edits.place(EDITOR, member(path), { asset: asset === null ? null : idOf(asset), since }),

    /** @param parent path; null: it becomes a root */
    move: (path: string, parent: string | null, since?: number) =>
      edits.move(EDITOR, idOf(path), { parent: parent === null ? null : idOf(parent), since }),

    /** @returns paths as they are now, or `?` */
    ancestors: (path: string, hour: number) => {
      const {
        device: { id },
        sensor,
      } = member(path);
      return tree.ancestorsAt(id, sensor?.id ?? '', hour).map((asset) => tree.path(asset));
    },
  };
}

export type TestTree = ReturnType<typeof createTestTree>;

/** With a store of its own. */
export async function startTestTree(clock: () => number): Promise<TestTree & { store: Store }> {
  const { store } = await createMemoryStore({ clock });
  return { ...createTestTree({ store, clock }), store };
}
