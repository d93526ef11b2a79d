import { uuidBytes } from '../../../../schema/ids.ts';
import { int64 } from '../../../store/index.ts';
import type { Session } from '../../../store/sending/session.ts';

const READ_PLAN = {
  name: 'read_asset_plan',
  cql: 'SELECT type, changed_at, places FROM asset_plan WHERE asset = ?',
};
const READ_PICTURE = {
  name: 'read_asset_picture',
  cql: 'SELECT type, changed_at, picture FROM asset_plan WHERE asset = ?',
};
const WRITE_PICTURE = {
  name: 'write_asset_picture',
  cql: 'INSERT INTO asset_plan (asset, type, picture, changed_at) VALUES (?, ?, ?, ?)',
};
const WRITE_PLACES = {
  name: 'write_asset_plan_places',
  cql: 'UPDATE asset_plan SET places = ? WHERE asset = ?',
};
const REMOVE = { name: 'remove_asset_plan', cql: 'DELETE FROM asset_plan WHERE asset = ?' };

/** Ids of the sensor. `x` and `y`: from 0 to 1, from the top left. */
export interface PlanPlace {
  device: string;
  sensor: string;
  x: number;
  y: number;
}

/** `type`: media type; `changedAt`: epoch ms */
interface PictureFacts {
  type: string;
  changedAt: number;
}

export function createPlanStore(session: Session) {
  return {
    /** `picture` null: there is none */
    async plan(asset: string): Promise<{ picture: PictureFacts | null; places: PlanPlace[] }> {
      const row = await session.one(READ_PLAN, [uuidBytes(asset)]);
      if (!row?.['type']) return { picture: null, places: [] };
      return {
        picture: { type: row['type'], changedAt: Number(row['changed_at']) },
        places: JSON.parse(row['places'] ?? '[]'),
      };
    },

    async picture(asset: string): Promise<(PictureFacts & { content: Buffer }) | null> {
      const row = await session.one(READ_PICTURE, [uuidBytes(asset)]);
      if (!row?.['type']) return null;
      return { type: row['type'], changedAt: Number(row['changed_at']), content: row['picture'] };
    },

    async storePicture(asset: string, { type, changedAt, content }: PictureFacts & { content: Buffer }) {
      await session.write(WRITE_PICTURE, [uuidBytes(asset), type, content, int64(changedAt)]);
    },

    async storePlaces(asset: string, places: PlanPlace[]) {
      await session.write(WRITE_PLACES, [JSON.stringify(places), uuidBytes(asset)]);
    },

    /** Removes the picture with its places. */
    async remove(asset: string) {
      await session.write(REMOVE, [uuidBytes(asset)]);
    },
  };
}

export type PlanStore = ReturnType<typeof createPlanStore>;
