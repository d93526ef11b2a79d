import type { Happened, Outcome } from './drill.ts';

const WIDTH = 1400;
const LEFT = 190;
const ROW = 22;
const RATES = 80;

const COLORS: Record<string, string> = {
  kill: '#c62828',
  pause: '#ef6c00',
  clock: '#6a1b9a',
  cut: '#1565c0',
  restart: '#2e7d32',
  outage: '#4e342e',
};

/** Draws the faults of a drill over time, the rate of acknowledgements, and the samples that are lost or wrong. @returns SVG */
export function drawTimeline({ seed, begun, ended, faults, progress, problems }: Outcome): string {
  const x = (at: number) =>
    LEFT + ((Math.min(ended, Math.max(begun, at)) - begun) / (ended - begun)) * (WIDTH - LEFT - 20);
  const targets = [...new Set(faults.map(({ target }) => target))].sort();
  const y = (target: string) => 40 + targets.indexOf(target) * ROW;
  const bottom = 40 + targets.length * ROW;
  const height = bottom + RATES + 60;
  const elements = [
    ...targets.map((target) => text(10, y(target) + 15, target)),
    ...faults.map((fault) => bar(fault, x, y(fault.target))),
    text(10, bottom + 30, 'acknowledged samples a second'),
    polyline(ratesOf(progress), x, bottom + 20),
    ...problems.map(({ ts, kind, where, device, sensor, message }) =>
      titled(
        `<line x1="${x(ts)}" x2="${x(ts)}" y1="30" y2="${height - 30}" stroke="#d50000" stroke-dasharray="3 2"/>`,
        `${kind} in ${where}: ${device}/${sensor} ${new Date(ts).toISOString()}: ${message}`,
      ),
    ),
    ...ticks(begun, ended).map((at) => text(x(at), height - 10, `${Math.round((at - begun) / 1000)} s`)),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" font-family="sans-serif" font-size="12">
<rect width="100%" height="100%" fill="white"/>
${text(10, 20, `Drill with seed ${seed}, from ${new Date(begun).toISOString()}`)}
${elements.join('\n')}
</svg>
`;
}

const escaped = (words: string) => words.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

const text = (x: number, y: number, words: string) => `<text x="${x}" y="${y}">${escaped(words)}</text>`;

const titled = (shape: string, title: string) => `<g><title>${escaped(title)}</title>${shape}</g>`;

function bar({ kind, title, from, to, recovered }: Happened, x: (at: number) => number, y: number) {
  const width = Math.max(2, x(to) - x(from));
  const rect = `<rect x="${x(from)}" y="${y + 4}" width="${width}" height="${ROW - 8}" fill="${COLORS[kind]}"/>`;
  const seconds = (at: number) => ((at - from) / 1000).toFixed(1);
  return titled(
    rect,
    `${title}: ${seconds(to)} s, recovered after ${recovered ? seconds(recovered) : '?'} s`,
  );
}

const ratesOf = (progress: Outcome['progress']) =>
  progress.slice(1).map(({ at, samples }, index) => {
    const before = progress[index] as { at: number; samples: number };
    return { at, rate: (1000 * (samples - before.samples)) / Math.max(1, at - before.at) };
  });

function polyline(rates: Array<{ at: number; rate: number }>, x: (at: number) => number, top: number) {
  const most = rates.reduce((highest, { rate }) => Math.max(highest, rate), 1);
  const points = rates.map(({ at, rate }) => `${x(at)},${top + RATES * (1 - rate / most)}`).join(' ');
  return titled(
    `<polyline points="${points}" fill="none" stroke="#00695c"/>`,
    `at most ${Math.round(most)} samples a second`,
  );
}

const ticks = (begun: number, ended: number) =>
  Array.from({ length: 11 }, (_, tenth) => begun + ((ended - begun) * tenth) / 11);
