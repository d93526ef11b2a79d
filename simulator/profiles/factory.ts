import type { Signal } from '../signals/index.ts';
import { energy, pieces, runningTime, starts } from '../signals/machine/counting.ts';
import { current, power, voltage } from '../signals/machine/electrical.ts';
import { flow, humidity, level, pressure } from '../signals/machine/fluid.ts';
import { deviation, force, rotation, vibration } from '../signals/machine/mechanical.ts';
import { occasional, running } from '../signals/machine/switches.ts';
import { thermal } from '../signals/machine/thermal.ts';
import type { NamedSignal, Profile } from './index.ts';

const HOUR_MS = 3_600_000;
const MACHINE = { rated: 18_000, idle: 900 };

const axis = (axis: string): Record<string, Signal> => ({
  [`${axis}.motor.temperature`]: thermal({ rise: 45, memoryMs: 900_000 }),
  [`${axis}.screw.temperature`]: thermal({ rise: 18, memoryMs: 1_800_000 }),
  [`${axis}.current`]: current({ rated: 12 }),
  [`${axis}.force`]: force,
  [`${axis}.rotation`]: rotation({ rated: 3000 }),
  [`${axis}.vibration`]: vibration({ usual: 1.2 }),
  [`${axis}.deviation`]: deviation,
});

const POINTS: Record<string, Signal> = {
  ...axis('x'),
  ...axis('y'),
  ...axis('z'),
  'spindle.front.temperature': thermal({ rise: 38, memoryMs: 600_000 }),
  'spindle.rear.temperature': thermal({ rise: 31, memoryMs: 700_000 }),
  'spindle.front.vibration': vibration({ usual: 2.4 }),
  'spindle.rear.vibration': vibration({ usual: 1.9 }),
  'spindle.rotation': rotation({ rated: 12_000 }),
  'spindle.current': current({ rated: 48 }),
  'spindle.power': power({ rated: 15_000, idle: 120 }),
  'spindle.force': force,
  'hydraulics.pressure': pressure({ rated: 16e6 }),
  'hydraulics.temperature': thermal({ rise: 22, memoryMs: 2_400_000 }),
  'hydraulics.flow': flow({ rated: 0.4 }),
  'hydraulics.level': level({ lastsMs: 2000 * HOUR_MS }),
  'coolant.pressure': pressure({ rated: 2e6 }),
  'coolant.temperature': thermal({ rise: 9, memoryMs: 3_000_000 }),
  'coolant.flow': flow({ rated: 1.1 }),
  'coolant.level': level({ lastsMs: 30 * HOUR_MS }),
  'air.pressure': pressure({ rated: 600e3 }),
  'air.humidity': humidity,
  'cabinet.temperature': thermal({ rise: 14, memoryMs: 1_200_000 }),
  'cabinet.voltage': voltage,
  'machine.power': power(MACHINE),
  'machine.energy': energy(MACHINE),
  'machine.running-time': runningTime,
  'machine.starts': starts,
  'parts.good': pieces({ everyMs: 45_000 }),
  'parts.rejected': pieces({ everyMs: 2_000_000 }),
  'machine.running': running,
  'door.open': occasional({ everyMs: 600_000, lastsMs: 30_000 }),
  'alarm.active': occasional({ everyMs: 6 * HOUR_MS, lastsMs: 120_000 }),
};

const KINDS = Object.entries(POINTS).map(([name, signal]) => ({ name, signal }));

/** Identical machines with fifty measuring points each. */
export const factory = {
  device: 'machine',
  places: ['Plant', 'Hall', 'Line', 'Machine'],
  sensors: { least: KINDS.length, most: KINDS.length },
  sensorsOf: (_, count = KINDS.length) => inRounds(KINDS, count),
} satisfies Profile;

/** If there are more sensors than kinds, the kinds repeat with a number: `pulse-2` and so on. */
export const inRounds = (kinds: NamedSignal[], count: number): NamedSignal[] =>
  Array.from({ length: count }, (_, index) => {
    const { name, signal } = kinds[index % kinds.length] as NamedSignal;
    const round = Math.floor(index / kinds.length);
    return { name: round === 0 ? name : `${name}-${round + 1}`, signal };
  });
