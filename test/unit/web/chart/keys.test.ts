import { expect, test } from '@jest/globals';
import { press } from '../../../../web/chart/plot.ts';
import { drawn, shapeOfSamples } from '../../../../web/chart/shape.ts';

const range = { from: 0, to: 1000 };
const instants = Array.from({ length: 1000 }, (_, ts) => ts);
const picture = drawn(shapeOfSamples({ ts: instants, value: instants }, range), 1);

/** The plot is 100 pixels wide: ten samples share a pixel, and uPlot returns only one of them. */
const plotAt = (entry: number) =>
  ({ cursor: { idxs: [null, Math.round(entry / 10) * 10, null, null] } }) as never;

const step = (key: string, walked: number | null, mouse: number = 0) =>
  press({ key, preventDefault() {} } as never, plotAt(walked ?? mouse), {
    window: range,
    bounds: { ...range, least: 1 },
    picture,
    walked,
  } as never);

test('Chart keys: ten samples share a pixel: arrow keys still move the cursor from sample to sample', () => {
  const walk = ['ArrowLeft', 'ArrowLeft', 'ArrowLeft', 'ArrowRight', 'Home', 'ArrowRight', 'End'];
  const at: (number | null)[] = [];
  for (const key of walk) at.push(step(key, at.at(-1) ?? 999));
  expect(at).toEqual([998, 997, 996, 997, 0, 1, 999]);
});

test('Chart keys: the cursor was set by mouse: an arrow key moves the cursor to the sample next to it', () => {
  expect(step('ArrowLeft', null, 500)).toBe(499);
});
