import type { Feature } from '../../feature.ts';
import { FleetWall, wallSize } from './fleet-wall.tsx';

export const wallFeature: Feature = {
  name: 'wall',
  wall: { isAlone: (query) => wallSize(query).isFull, Picture: FleetWall },
};
