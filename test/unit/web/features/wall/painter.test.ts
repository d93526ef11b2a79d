import { expect, test } from '@jest/globals';
import { layOut } from '../../../../../web/features/wall/layout.ts';
import { createPainter, type Palette } from '../../../../../web/features/wall/painter.ts';
import { CELL_STATES, CURRENT, SILENT } from '../../../../../web/state/cells.ts';
import type { FleetSensor } from '../../../../../web/state/fleet.ts';

const PALETTE: Palette = {
  colors: Array.from({ length: CELL_STATES }, (_, cellState) => `state ${cellState}`),
  ground: 'ground',
  card: 'card',
  ink: 'ink',
  quiet: 'quiet',
  font: 'sans-serif',
};

/** Paints a wall of sensors of one device, without a browser. */
function paintWall(count: number) {
  const calls: string[] = [];
  const context = {
    fillStyle: '',
    strokeStyle: '',
    lineWidth: 1,
    font: '',
    lineJoin: '',
    setTransform() {},
    save() {},
    restore() {},
    beginPath() {},
    rect() {},
    clip() {},
    translate() {},
    fillText(text: string) {
      calls.push(`text ${text}`);
    },
    measureText: (text: string) => ({ width: text.length }),
    fillRect() {
      calls.push(context.fillStyle);
    },
    strokeRect() {
      calls.push(`stroke ${context.strokeStyle}`);
    },
  };
  const canvas = { width: 0, height: 0, getContext: () => context } as never;
  const layout = layOut([[count]], { width: 900, height: 400 });
  const device = { name: 'collar-1', offline: false };
  const sensors = Array.from({ length: count }, (_, cell) => {
    const labels = { key: `d/${cell}`, name: `s-${cell}`, type: null, unit: null };
    return { ...labels, device, cell, cellState: CURRENT, value: 1 } as unknown as FleetSensor;
  });
  const scene = { layout, sensors, choices: {} };
  const painter = createPainter(canvas);
  painter.all(scene, PALETTE, 1);
  return {
    layout,
    /** @returns the drawing calls */
    change(cell: number, change: Partial<FleetSensor>): string[] {
      calls.length = 0;
      const sensor = Object.assign(sensors[cell] as FleetSensor, change);
      painter.some(scene, PALETTE, [sensor]);
      return [...calls];
    },
    /** Draws all cells again, as after a change of the theme. */
    repaint() {
      calls.length = 0;
      painter.all(scene, PALETTE, 1);
      return calls.length;
    },
  };
}

test('Wall drawing: sensor drawn as a square gets a new value: only that square is redrawn, and only if its color changes', () => {
  const wall = paintWall(5000);
  expect(wall.layout.format.isCard).toBe(false);
  expect(wall.change(7, { value: 2 })).toEqual([]);
  expect(wall.change(7, { value: 3, cellState: 0 })).toEqual(['ground', 'state 0']);
  expect(wall.change(7, { value: 4 })).toEqual([]);
  expect(wall.change(7, { cellState: CURRENT })).toEqual(['ground', `state ${CURRENT}`]);
});

test('Wall drawing: a sensor becomes silent: the square of the sensor is redrawn as an outline', () => {
  const wall = paintWall(5000);
  expect(wall.change(3, { cellState: SILENT })).toEqual(['ground', `stroke state ${SILENT}`]);
});

test('Wall drawing: sensor drawn as a card gets a new value: the new value is written on the card', () => {
  const wall = paintWall(4);
  expect(wall.layout.format.isCard).toBe(true);
  expect(wall.change(2, { value: 21.5 })).toContain('text 21.5');
});
