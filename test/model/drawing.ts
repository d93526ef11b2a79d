import type { Event } from './check.ts';

const ACTORS = ['ingest 1', 'ingest 2', 'packer 1', 'packer 2', 'database', 'reader'];
const WIDTH = 132;
const ROW = 20;
const LEFT = 64;
const TOP = 58;

/** The bits of history.pml. */
const SAMPLES: Array<[bit: number, name: string]> = [
  [1, 'A'],
  [2, 'A′'],
  [4, '−A'],
  [8, 'B'],
];

/** Instant 1 has the sample A, its replacement A′ and its removal −A; instant 2 has the sample B. */
function samplesOf(set: number): string {
  const names = SAMPLES.filter(([bit]) => (set & bit) !== 0).map(([, name]) => name);
  return names.length > 0 ? `{${names.join(', ')}}` : '{}';
}

function labelOf({ text, value }: Event): string {
  if (text === 'reads its clock') return `clock: ${minutes(value)}`;
  if (text === 'marks the hour') return `mark ${minutes(value)}`;
  if (text === 'reads packed_until') return `packed_until: ${value ? 'after' : 'before'}`;
  return /^(moves|ends|messages)/.test(text) ? text : `${text} ${samplesOf(value)}`;
}

/** The hour closes at tick 4. */
const minutes = (tick: number) => {
  const offset = (tick - 4) * 2;
  return offset === 0 ? 'closing' : `${offset > 0 ? '+' : '−'}${Math.abs(offset)} min`;
};

const escaped = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

const STYLE = `
    .column { stroke: #9fb4bd } .time { stroke: #9fb4bd; stroke-dasharray: 3 5 } .name { fill: #0f1f26; font-size: 13px; font-weight: 650 }
    .does { fill: #26383f; font-size: 10.5px } .at { fill: #526870; font-size: 10.5px } .box { fill: #e4f1f2 } .wrong { fill: #f6d9c6 }
    @media (prefers-color-scheme: dark) {
      .column, .time { stroke: #45595f } .name { fill: #eef5f6 } .does { fill: #dce6e8 } .at { fill: #a3b4ba } .box { fill: #17383c } .wrong { fill: #5a3218 }
    }`;

/** Columns of processes, time downward. The last event is the wrong answer. */
export function draw(title: string, events: Event[]): string {
  const actors = ACTORS.filter((name) => events.some(({ actor }) => actor === name));
  const width = LEFT + actors.length * WIDTH + 8;
  const rows: string[] = [];
  let y = TOP;
  const timeLine = (tick: number) =>
    rows.push(
      `<line class="time" x1="${LEFT}" x2="${width - 8}" y1="${y - 4}" y2="${y - 4}" /><text class="at" x="4" y="${y}">${minutes(tick)}</text>`,
    );
  timeLine(1);
  y += ROW;
  for (const event of events) {
    if (event.actor === 'time') {
      timeLine(Number(event.text));
    } else {
      const x = LEFT + actors.indexOf(event.actor) * WIDTH;
      const kind = event.text === 'shows' ? 'wrong' : 'box';
      rows.push(
        `<rect class="${kind}" x="${x}" y="${y - 14}" width="${WIDTH - 6}" height="18" rx="4" /><text class="does" x="${x + 5}" y="${y - 1}">${escaped(labelOf(event))}</text>`,
      );
    }
    y += ROW;
  }
  const heads = actors.map((name, index) => {
    const x = LEFT + index * WIDTH;
    return `<text class="name" x="${x + 5}" y="40">${name}</text><line class="column" x1="${x}" x2="${x}" y1="48" y2="${y - 8}" />`;
  });
  const story = events
    .filter(({ actor }) => actor !== 'time')
    .map((event) => `${event.actor} ${labelOf(event)}`);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" width="${width}" role="img" aria-labelledby="title desc" font-family="system-ui, -apple-system, 'Segoe UI', sans-serif">`,
    `  <title id="title">${escaped(title)}</title>`,
    `  <desc id="desc">${escaped(story.join('; '))}</desc>`,
    `  <style>${STYLE}`,
    '  </style>',
    `  <text class="name" x="4" y="18">${escaped(title)}</text>`,
    ...[...heads, ...rows].map((line) => `  ${line}`),
    '</svg>',
    '',
  ].join('\n');
}
