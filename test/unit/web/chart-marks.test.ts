import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { chartOptions } from '../../../web/chart/options.ts';
import { drawn, middleOf } from '../../../web/chart/shape.ts';
import {
  anyPicture,
  common,
  host,
  isMarked,
  layOut,
  plot,
  shapeIn,
  useChartRig,
} from '../../support/web/chart-rig.ts';

useChartRig();

describe('Every stored sample lies under a mark, for any history, range and width', () => {
  test('Sensor chart: any samples, time range and chart width: every stored sample is covered by a drawn line or point', () => {
    fc.assert(
      fc.property(anyPicture, (picture) => {
        const { window, step } = layOut(picture);
        const shape = shapeIn(picture.history, window, step);
        if (shape.ts.length === 0) return;
        const options = chartOptions({
          ...common,
          host,
          isRaw: () => shape.stepMs === null,
          entryUnder: () => null,
          onPlot() {},
        });
        const { columns } = drawn(shape, picture.intervalMs);
        const { marksOf, toX, toY } = plot(options, columns, window, picture.width);
        const marks = [marksOf(1), marksOf(2), marksOf(3)];
        const hidden = [...shape.ts.keys()].filter((at) => {
          const x = toX(middleOf(shape, at));
          return [shape.min[at], shape.max[at]].some(
            (value) => !isMarked(marks, { x, y: toY(Number(value)) }),
          );
        });
        expect(hidden).toEqual([]);
      }),
    );
  });
});
