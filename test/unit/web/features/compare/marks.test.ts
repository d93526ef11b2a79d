import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { middleOf } from '../../../../../web/chart/shape.ts';
import { compareOptions } from '../../../../../web/features/compare/compare-plot.tsx';
import { alignLines } from '../../../../../web/features/compare/use-compared.ts';
import {
  anyHistory,
  anyPicture,
  common,
  host,
  isMarked,
  layOut,
  plot,
  shapeIn,
  useChartRig,
} from '../../../../support/web/chart-rig.ts';

useChartRig();

test('Comparison chart of two sensors: any samples, time range and chart width: a drawn line or point covers each sample', () => {
  fc.assert(
    fc.property(anyPicture, anyHistory, (picture, other) => {
      const { window, step } = layOut(picture);
      const lines = [picture.history, other].map((history, index) => ({
        key: `${index}`,
        hue: index + 1,
        scale: 'unit',
        isGhost: false,
        intervalMs: picture.intervalMs,
        shape: shapeIn(history, window, step),
      }));
      const options = compareOptions({ ...common, cursorKey: '', host, lines: lines as never });
      const { columns } = alignLines(lines as never);
      if (columns[0].length === 0) return;
      const { marksOf, toX, toY } = plot(options, columns, window, picture.width);
      for (const [index, { shape }] of lines.entries()) {
        const marks = [marksOf(index + 1)];
        const hidden = [...shape.ts.keys()].filter(
          (at) => !isMarked(marks, { x: toX(middleOf(shape, at)), y: toY(Number(shape.avg[at])) }),
        );
        expect(hidden).toEqual([]);
      }
    }),
  );
});
