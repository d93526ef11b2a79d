import { expect, test } from '@jest/globals';
import { createScreenTimes } from '../../../../../web/features/pipeline/screen-times.ts';

test('Latency from commit to screen: the page is hidden before a frame: the hidden time is not counted', () => {
  const frames: (() => void)[] = [];
  let ms = 1000;
  const screen = createScreenTimes({
    requestFrame: (run) => frames.push(run),
    afterPaint: (run) => run(),
    clock: () => ms,
  });
  const draw = () => {
    for (const run of frames.splice(0)) run();
    screen.addFigure(0);
    return screen.figures.peek().map(({ p99 }) => p99);
  };
  screen.arrived(5, ms);
  screen.noteHidden();
  const arrivedAt = ms;
  ms += 60_000;
  // This value arrived before the page was hidden, and is reported after that.
  screen.arrived(5, arrivedAt);
  expect(draw()).toEqual([]);
  screen.arrived(5, ms);
  ms += 10;
  expect(draw()).toEqual([15]);
});
