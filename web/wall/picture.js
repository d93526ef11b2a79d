import { sortKey } from '../state/lists.js';
import { layOut } from './layout.js';
import { createHits, createPainter, createTrails } from './painter.js';

/** @import { Fleet, FleetDevice, FleetSensor } from '../state/fleet.js' */
/** @import { Palette, TrailPoint } from './painter.js' */
/** @import { UnitChoices } from '../units.js' */

/**
 * @typedef {{ name: string | null, sensors: number, devices: number, x: number, y: number, width: number }} Heading of a site; px
 * @typedef {{ x: number, y: number, width: number, height: number }} Box px from the top left of the wall
 */

/**
 * The wall on its canvas: where each sensor's cell is, and what is redrawn when something changes.
 *
 * @param {object} deps
 * @param {HTMLCanvasElement} deps.canvas
 * @param {Fleet} deps.fleet
 * @param {() => UnitChoices} deps.choices
 * @param {(key: string) => readonly TrailPoint[]} deps.recentOf values of a sensor that are known already, oldest first
 */
export function createPicture({ canvas, fleet, choices, recentOf }) {
  const painter = createPainter(canvas);
  const trails = createTrails();
  /** @type {FleetSensor[]} by cell */
  let sensors = [];
  let layout = layOut([], { width: 1, height: 1 });
  let hits = createHits(layout);
  let isLit = new Uint8Array(0);
  /** @type {Palette | null} */
  let palette = null;
  let scale = 1;

  const trailOf = (/** @type {FleetSensor} */ { key }) => trails.of(key, recentOf(key));
  const scene = () => ({ layout, sensors, isLit, choices: choices(), trailOf });

  function paint() {
    if (palette) painter.all(scene(), palette, scale);
  }

  /** @param {FleetSensor} sensor @param {1 | -1} step @returns {FleetSensor} the first one of the device before or after */
  function ofNextDevice(sensor, step) {
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
     * @param {{ width: number, height: number, isAll: boolean, scale: number }} room px; `isAll`: there is no more below; `scale`: device pixels of one
     * @returns {{ headings: Heading[], height: number }}
     */
    arrange(room) {
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

    /** @param {(sensor: FleetSensor) => boolean} matches what does not is dimmed @returns {number} how many do */
    light(matches) {
      let lit = 0;
      for (const [cell, sensor] of sensors.entries()) {
        isLit[cell] = matches(sensor) ? 1 : 0;
        lit += Number(isLit[cell]);
      }
      return lit;
    },

    /** @param {Palette} next */
    color(next) {
      palette = next;
    },

    paint,

    /** @param {readonly FleetSensor[]} changed */
    repaint(changed) {
      if (layout.format.isCard) trails.take(changed);
      if (palette) painter.some(scene(), palette, changed);
    },

    /** @param {number} x px @param {number} y px @returns {FleetSensor | null} */
    sensorAt: (x, y) => sensors[hits.at(x, y)] ?? null,

    /** @param {FleetSensor} sensor @returns {Box | null} */
    boxOf({ cell }) {
      const { x, y, format } = layout;
      if (cell < 0 || cell >= x.length) return null;
      return { x: Number(x[cell]), y: Number(y[cell]), width: format.width, height: format.height };
    },

    /**
     * @param {FleetSensor | null} from
     * @param {string} key of the keyboard
     * @returns {FleetSensor | null} where it leads; null: nowhere
     */
    byKey(from, key) {
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

/** @type {Record<string, [dx: number, dy: number]>} */
const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @typedef {ReturnType<typeof createPicture>} Picture */

/**
 * @typedef {{ name: string | null, devices: FleetDevice[], sensors: number }} Site
 */

/**
 * The fleet as one looks for things in it: by site, in it by device, in that by sensor, each by its name; `collar-2` stands before
 * `collar-10`. Devices without a site come last.
 *
 * @param {Iterable<FleetDevice>} devices their sensors are put in order in place
 * @returns {Site[]}
 */
export function inOrder(devices) {
  /** @type {Map<string | null, FleetDevice[]>} */
  const bySite = new Map();
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

/** @param {FleetDevice} device */
function withSensorsInOrder(device) {
  if (!device.isInOrder) device.sensors = sorted(device.sensors, (sensor) => sortKey(sensor.name));
  device.isInOrder = true;
  return device;
}

/**
 * @template T
 * @param {T[]} things
 * @param {(thing: T) => string} keyOf
 * @returns {T[]}
 */
function sorted(things, keyOf) {
  const keyed = things.map((thing) => ({ key: keyOf(thing), thing }));
  keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
  return keyed.map(({ thing }) => thing);
}
