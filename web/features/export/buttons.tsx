import { useState } from 'preact/hooks';
import { sensorPath } from '../../api/client.ts';
import { BASE, toQuery } from '../../api/request.ts';
import type { ChartActionsProps, DrawnLine } from '../../feature.ts';
import { copyText, saveFile } from '../shared/copy.tsx';
import './export.css';

/** Space around the picture for its title in CSS pixels. If the picture has several charts, each chart also has space for its name. */
const MARGIN = 16;
const TITLE_HEIGHT = 28;
const CAPTION_HEIGHT = 20;

/** Renders buttons that save the drawn points and the picture, links to the samples of a sensor, and a button that copies the address. */
export function ChartActions({ name, lines, chart, samples }: ChartActionsProps) {
  const [note, setNote] = useState('');
  const saveCsv = () => saveFile(`${name}.csv`, new Blob([csvOf(lines())], { type: 'text/csv' }));
  const savePicture = async () => {
    const picture = chart.current && (await pictureOf(chart.current, name));
    if (picture) saveFile(`${name}.png`, picture);
    else setNote('There is no chart to save.');
  };
  const copy = async (button: HTMLElement) =>
    setNote((await copyText(location.href, button)) ? 'Link copied.' : location.href);
  return (
    <p class="chart-downloads small">
      <span>What you see</span>
      <button type="button" class="button" onClick={saveCsv}>
        CSV
      </button>
      <button type="button" class="button" onClick={() => void savePicture()}>
        PNG
      </button>
      {samples && <SampleFiles {...samples} />}
      <button type="button" class="button" onClick={(event) => void copy(event.currentTarget)}>
        Copy link
      </button>
      <span class="chart-downloads-note" role="status">
        {note}
      </span>
    </p>
  );
}

/** Renders links to all samples of the range, which the browser streams to disk. */
function SampleFiles({ device_id, sensor_id, range }: NonNullable<ChartActionsProps['samples']>) {
  const { live, from, to } = range;
  const query = {
    from: new Date(from).toISOString(),
    to: live ? null : new Date(to).toISOString(),
    order: 'asc',
  };
  const link = (format: 'csv' | 'ndjson', label: string) => (
    <a
      class="button"
      href={`${BASE}${sensorPath(device_id, sensor_id)}/measurements${toQuery({ ...query, format })}`}
      download
      data-native
    >
      {label}
    </a>
  );
  return (
    <>
      <span>All samples</span> {link('csv', 'CSV')} {link('ndjson', 'NDJSON')}
    </>
  );
}

/** @returns the name that stands next to the chart on the page */
const captionOf = (canvas: HTMLCanvasElement): string | undefined =>
  canvas.closest<HTMLElement>('[data-caption]')?.dataset['caption'];

/**
 * Draws the charts below each other on the background of the panel, with a title. The canvas of a chart itself is transparent.
 *
 * @returns PNG; null: there is no chart
 */
async function pictureOf(host: HTMLElement, title: string): Promise<Blob | null> {
  const charts = [...host.querySelectorAll('canvas')];
  if (charts.length === 0) return null;
  const style = getComputedStyle(host);
  const ratio = devicePixelRatio;
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(...charts.map(({ width }) => width)) + 2 * MARGIN * ratio;
  const captions = charts.map(captionOf);
  const captionHeight = captions.filter(Boolean).length * CAPTION_HEIGHT;
  canvas.height =
    charts.reduce((sum, { height }) => sum + height, 0) + (TITLE_HEIGHT + captionHeight + 2 * MARGIN) * ratio;
  const context = canvas.getContext('2d');
  if (!context) return null;
  context.fillStyle = style.getPropertyValue('--surface');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue('--ink');
  context.font = `600 ${14 * ratio}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  context.fillText(title, MARGIN * ratio, (MARGIN + TITLE_HEIGHT / 2) * ratio);
  let top = (MARGIN + TITLE_HEIGHT) * ratio;
  context.font = `${12 * ratio}px system-ui, sans-serif`;
  for (const [index, chart] of charts.entries()) {
    const caption = captions[index];
    if (caption) {
      context.fillText(caption, MARGIN * ratio, top + (CAPTION_HEIGHT / 2) * ratio);
      top += CAPTION_HEIGHT * ratio;
    }
    context.drawImage(chart, MARGIN * ratio, top);
    top += chart.height;
  }
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}

const HEADER = 'device,sensor,unit,ts,avg,min,max,count';

/**
 * Writes the drawn points as CSV with one point per line. Each line names its sensor, so that files can be joined. For a single
 * sample, average, minimum and maximum equal the value of the sample.
 */
export const csvOf = (lines: DrawnLine[]): string => `${[HEADER, ...lines.flatMap(rowsOf)].join('\n')}\n`;

function rowsOf({ device, sensor, unit, shape }: DrawnLine): string[] {
  const names = [device, sensor, unit ?? ''].map(cell).join(',');
  return shape.ts.map((ts, at) =>
    [
      names,
      new Date(ts).toISOString(),
      shape.avg[at] ?? '',
      shape.min[at] ?? '',
      shape.max[at] ?? '',
      shape.count[at] ?? '',
    ].join(','),
  );
}

/** Spreadsheets treat a text that begins with one of these characters as a formula. */
const FORMULA = /^[=+\-@\t]/;

/** @returns the text as a CSV field by RFC 4180 */
function cell(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
