import { existsSync } from 'node:fs';

/** @returns whether the file is missing because `npm run test:unplug` removed its feature */
export function isUnplugged(file: string): boolean {
  const [, feature] = /(?:^|\/)features\/([a-z-]+)/.exec(file) ?? [];
  return feature !== undefined && !existsSync(`api/features/${feature}`) && !existsSync(file);
}
