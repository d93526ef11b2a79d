import { PROFILES } from '../profiles/index.ts';
import { deviceName } from './devices.ts';

const LEVELS = ['site', 'area', 'line', 'machine'];

const DEVICES_PER_MACHINE = 2;

/**
 * Describes where the simulated devices stand: a site with areas, lines and machines, about equally many below each.
 *
 * @returns CSV as `POST /asset-tree` reads it
 */
export function describePlant({
  devices,
  profile = 'collar',
  device,
}: {
  devices: number;
  profile?: string;
  /** beginning of the device names; default: that of the profile */
  device?: string | undefined;
}): string {
  const described = PROFILES[profile] as (typeof PROFILES)[string];
  const machines = Math.ceil(devices / DEVICES_PER_MACHINE);
  const branches = Math.ceil(Math.cbrt(machines));
  const lines = new Set(['path,level,device']);
  for (let index = 0; index < devices; index++) {
    const machine = Math.floor(index / DEVICES_PER_MACHINE);
    const [area, line] = [machine % branches, Math.floor(machine / branches) % branches];
    const numbers = [null, area, line, Math.floor(machine / branches ** 2)];
    const names = described.places.map((name, at) => {
      const number = numbers[at] ?? null;
      return number === null ? name : `${name} ${number + 1}`;
    });
    for (const [at, level] of LEVELS.entries()) lines.add(`${names.slice(0, at + 1).join('/')},${level},`);
    lines.add(`${names.join('/')},,${deviceName(device ?? described.device, index + 1)}`);
  }
  return `${[...lines].join('\n')}\n`;
}
