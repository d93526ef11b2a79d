import { useRef, useState } from 'preact/hooks';
import type { Zone } from '../../format.ts';
import {
  formatClock,
  formatCount,
  formatCounted,
  formatDateClock,
  formatDay,
  formatZone,
} from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { Table } from '../../kit/table.tsx';
import { byCount, codeOf } from './codes.tsx';
import type { Bin, Span } from './counts.ts';

/** Height of the drawing in SVG units. The drawing is stretched to the available space. */
const HEIGHT = 100;
/** Width of a bar as a share of its space. */
const FILLED = 0.8;
/** Minimum height of a bar that is not empty, in SVG units. */
const LEAST_BAR_HEIGHT = 1.5;

/** Renders a bar chart of refusals over time, by code. Pointer, or arrow keys and Enter, choose a bar. */
export function Bars({
  bins,
  chosen,
  zone,
  reached,
  onChoose,
}: {
  /** bars, oldest first */
  bins: Bin[];
  chosen: Span | null;
  zone: Zone;
  /** time in epoch ms before which dead letters are not counted yet */
  reached: number;
  onChoose: (bin: Bin) => void;
}) {
  const [pointed, setPointed] = useState<number | null>(null);
  const host = useRef<HTMLDivElement | null>(null);
  const highest = Math.max(1, ...bins.map(({ total }) => total));
  const chosenAt = bins.findIndex(({ from }) => from === chosen?.from);
  const shown = bins[pointed ?? chosenAt] ?? null;

  const binUnder = ({ clientX }: PointerEvent | MouseEvent) => {
    const { left = 0, width = 1 } = host.current?.getBoundingClientRect() ?? {};
    return Math.min(bins.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bins.length)));
  };
  const onKey = (event: KeyboardEvent) => {
    const next = keyMove(event.key, pointed ?? (chosenAt < 0 ? bins.length : chosenAt), bins.length);
    const bin = pointed === null ? undefined : bins[pointed];
    if (event.key === 'Enter' && bin) onChoose(bin);
    else if (next !== null) setPointed(next);
    else return;
    event.preventDefault();
  };

  return (
    <figure class="bars">
      <figcaption class="bars-readout small" aria-live="polite">
        {shown ? barText(shown, zone) : 'Point at a bar to read it; choose it to see its dead letters.'}
      </figcaption>
      <div class="bars-frame">
        <span class="bars-most small" aria-hidden="true">
          {formatCount(highest)}
        </span>
        <div
          class="bars-plot"
          ref={host}
          role="img"
          tabIndex={0}
          aria-label="Refusals over time, by code. Arrow keys go from bar to bar, Enter shows its dead letters. The table below has the same figures."
          onPointerMove={(event: PointerEvent) => setPointed(binUnder(event))}
          onPointerLeave={() => setPointed(null)}
          onBlur={() => setPointed(null)}
          onKeyDown={onKey}
          onClick={(event: MouseEvent) => {
            const bin = bins[binUnder(event)];
            if (bin) onChoose(bin);
          }}
        >
          <svg viewBox={`0 0 ${bins.length} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
            {[chosenAt, pointed].map(
              (at) =>
                at !== null && at >= 0 && <rect class="bars-band" x={at} y="0" width="1" height={HEIGHT} />,
            )}
            {bins.map((bin, at) => (
              <Stack key={bin.from} bin={bin} at={at} highest={highest} />
            ))}
          </svg>
          {reached > (bins[0]?.from ?? 0) && <span class="bars-ahead small">Counting back…</span>}
        </div>
        <div class="bars-axis small" aria-hidden="true">
          {axisOf(bins, zone).map((text) => (
            <span>{text}</span>
          ))}
        </div>
      </div>
    </figure>
  );
}

function Stack({ bin, at, highest }: { bin: Bin; at: number; highest: number }) {
  let top = HEIGHT;
  const x = at + (1 - FILLED) / 2;
  return byCount(bin.codes).map(([code, count]) => {
    const height = Math.max(LEAST_BAR_HEIGHT, (count / highest) * HEIGHT);
    top -= height;
    return (
      <rect key={code} class={`bar ${codeOf(code).className}`} x={x} y={top} width={FILLED} height={height} />
    );
  });
}

function keyMove(key: string, at: number, count: number): number | null {
  const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[key];
  return target === undefined ? null : Math.min(Math.max(target, 0), count - 1);
}

const barText = ({ from, to, deadLetters, codes }: Bin, zone: Zone) => (
  <>
    <strong>{binName({ from, to }, zone)}</strong>
    {deadLetters === 0
      ? ' nothing refused'
      : ` ${formatCounted(deadLetters, 'dead letter')}: ${codesText(codes)}`}
  </>
);

const codesText = (codes: Bin['codes']): string =>
  byCount(codes)
    .map(([code, count]) => `${formatCount(count)} ${code}`)
    .join(', ');

/** @returns time span of a bar as text: `2026-11-21 14:00–15:00` */
export const binName = ({ from, to }: Span, zone: Zone): string =>
  `${formatDateClock(from, zone)}–${formatClock(to, zone)}`;

/** @returns labels of five times from the left to the right edge */
function axisOf(bins: Bin[], zone: Zone): string[] {
  const [first, last] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0];
  const withDate = last - first > 2 * 86_400_000;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = first + share * (last - first);
    return withDate ? formatDay(at, zone) : formatClock(at, zone);
  });
}

/** Renders the bars as a table. Each row links to its dead letters. */
export function BinsTable({
  bins,
  zone,
  hrefOf,
}: {
  /** bars, oldest first */
  bins: Bin[];
  zone: Zone;
  hrefOf: (bin: Bin) => string;
}) {
  const filled = bins.filter(({ deadLetters }) => deadLetters > 0).reverse();
  const head = filled[0]?.from ?? Date.now();
  return (
    <details class="more-figures">
      <summary>The same as a table</summary>
      <Table
        class="plain"
        caption="Refusals over time, newest first"
        rows={filled}
        keyOf={({ from }) => from}
        columns={[
          {
            label: `Time ${formatZone(zone, head)}`,
            isName: true,
            cell: (bin) => (
              <>
                <a class="link" href={hrefOf(bin)}>
                  {binName(bin, zone)}
                </a>
                <OtherZone ts={bin.from} head={head} />
              </>
            ),
          },
          {
            label: 'Dead letters',
            class: 'number',
            cell: ({ deadLetters }) => formatCount(deadLetters),
          },
          { label: 'Refusals', class: 'wraps', cell: ({ codes }) => codesText(codes) },
        ]}
      />
    </details>
  );
}
