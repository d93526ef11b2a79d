import type { Fleet, FleetDevice, FleetSensor } from '../state/fleet.ts';
import { sortKey } from '../state/lists.ts';
import type { UnitChoices } from '../units.ts';
import { layOut } from './layout.ts';
import type { Palette, TrailPoint } from './painter.ts';
import { createHits, createPainter, createTrails } from './painter.ts';

/** Of a site; px. */
export type Heading = {
  name: string | null;
  sensors: number;
  devices: number;
  x: number;
  y: number;
  width: number;
};

/** Px from the top left of the wall. */
export type Box = { x: number; y: number; width: number; height: number };

/** The wall on its canvas: where each sensor's cell is, and what is redrawn when something changes. */
export function createPicture({
  canvas,
  fleet,
  choices,
  recentOf,
}: {
  canvas: HTMLCanvasElement;
  fleet: Fleet;
  choices: () => UnitChoices;
  /** values of a sensor that are known already, oldest first */
  recentOf: (key: string) => readonly TrailPoint[];
}) {
  const painter = createPainter(canvas);
  const trails = createTrails();
  /** by cell */
  let sensors: FleetSensor[] = [];
  let layout = layOut([], { width: 1, height: 1 });
  let hits = createHits(layout);
  let isLit = new Uint8Array(0);
  let palette: Palette | null = null;
  let scale = 1;

  const trailOf = ({ key }: FleetSensor) => trails.of(key, recentOf(key));
  const scene = () => ({ layout, sensors, isLit, choices: choices(), trailOf });

  function paint() {
    if (palette) painter.all(scene(), palette, scale);
  }

  /** @returns the first one of the device before or after */
  function ofNextDevice(sensor: FleetSensor, step: 1 | -1): FleetSensor {
    let at = sensor.cell;
    while (sensors[at] && sensors[at]?.device === sensor.device) at += step;
    const found = sensors[at]?.device;
    while (step < 0 && sensors[at - 1] && sensors[at - 1]?.device === found) at -= 1;
    return sensors[at] ?? sensor;
  }

  return {
    /**
     * Gives every sensor its place.
     *
     * @param room px; `isAll`: there is no more below; `scale`: device pixels of one
     */
    arrange(room: { width: number; height: number; isAll: boolean; scale: number }): {
      headings: Heading[];
      height: number;
    } {
      scale = room.scale;
      const sites = inOrder(fleet.devices.values());
      layout = layOut(
        sites.map(({ devices }) => devices.map((device) => device.sensors.length)),
        room,
      );
      hits = createHits(layout);
      sensors = sites.flatMap(({ devices }) => devices.flatMap((device) => device.sensors));
      for (const [cell, sensor] of sensors.entries()) sensor.cell = cell;
      isLit = new Uint8Array(sensors.length).fill(1);
      // Without room for headings there are no blocks.
      const headings = sites.slice(0, layout.blocks.length).map(({ name, sensors: count, devices }, i) => ({
        name,
        sensors: count,
        devices: devices.length,
        ...(layout.blocks[i] ?? { x: 0, y: 0, width: 0 }),
      }));
      return { headings, height: layout.height };
    },

    /**
     * @param matches what does not is dimmed
     * @returns how many do
     */
    light(matches: (sensor: FleetSensor) => boolean): number {
      let lit = 0;
      for (const [cell, sensor] of sensors.entries()) {
        isLit[cell] = matches(sensor) ? 1 : 0;
        lit += Number(isLit[cell]);
      }
      return lit;
    },

    color(next: Palette) {
      palette = next;
    },

    paint,

    repaint(changed: readonly FleetSensor[]) {
      if (layout.format.isCard) trails.take(changed);
      if (palette) painter.some(scene(), palette, changed);
    },

    /**
     * @param x px
     * @param y px
     */
    sensorAt: (x: number, y: number): FleetSensor | null => sensors[hits.at(x, y)] ?? null,

    boxOf({ cell }: FleetSensor): Box | null {
      const { x, y, format } = layout;
      if (cell < 0 || cell >= x.length) return null;
      return { x: Number(x[cell]), y: Number(y[cell]), width: format.width, height: format.height };
    },

    /**
     * @param key of the keyboard
     * @returns where it leads; null: nowhere
     */
    byKey(from: FleetSensor | null, key: string): FleetSensor | null {
      const first = sensors[0] ?? null;
      if (key === 'Home') return first;
      if (key === 'End') return sensors.at(-1) ?? null;
      if (key === 'PageUp') return from ? ofNextDevice(from, -1) : first;
      if (key === 'PageDown') return from ? ofNextDevice(from, 1) : first;
      const way = WAYS[key];
      if (!way) return null;
      return from && from.cell >= 0 ? (sensors[hits.neighbor(from.cell, ...way)] ?? from) : first;
    },
  };
}

const WAYS: Record<string, [dx: number, dy: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export type Picture = ReturnType<typeof createPicture>;

type Site = { name: string | null; devices: FleetDevice[]; sensors: number };

/**
 * The fleet as one looks for things in it: by site, in it by device, in that by sensor, each by its name; `collar-2` stands before
 * `collar-10`. Devices without a site come last.
 *
 * @param devices their sensors are put in order in place
 */
export function inOrder(devices: Iterable<FleetDevice>): Site[] {
  const bySite: Map<string | null, FleetDevice[]> = new Map();
  for (const device of devices) {
    if (device.sensors.length === 0) continue;
    const at = bySite.get(device.site);
    if (at) at.push(device);
    else bySite.set(device.site, [device]);
  }
  const sites = [...bySite].map(([name, members]) => ({ name, members }));
  return sorted(sites, ({ name }) => (name === null ? '\uffff' : sortKey(name))).map(({ name, members }) => ({
    name,
    devices: sorted(members, (device) => sortKey(device.name)).map(withSensorsInOrder),
    sensors: members.reduce((sum, device) => sum + device.sensors.length, 0),
  }));
}

function withSensorsInOrder(device: FleetDevice) {
  if (!device.isInOrder) device.sensors = sorted(device.sensors, (sensor) => sortKey(sensor.name));
  device.isInOrder = true;
  return device;
}

function sorted<T>(things: T[], keyOf: (thing: T) => string): T[] {
  const keyed = things.map((thing) => ({ key: keyOf(thing), thing }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ thing }) => thing);
}
