import { useRef, useState } from 'preact/hooks';
import {
  formatClock,
  formatCount,
  formatCounted,
  formatDateClock,
  formatDay,
  formatZone,
} from '../format.js';
import { byCount, codeOf } from './codes.jsx';

/** @import { Bin, Span } from './counts.js' */

/** The drawing's own units; it is stretched to whatever room there is. */
const HEIGHT = 100;
/** Share of its room that a bar takes. */
const FILLED = 0.8;
/** A bar with anything in it is seen, however high the others are. */
const LEAST = 1.5;

/**
 * Refusals over time, by code. One bar can be chosen: by pointer, or by arrow keys and Enter.
 *
 * @param {object} props
 * @param {Bin[]} props.bins oldest first
 * @param {Span | null} props.chosen
 * @param {'local' | 'utc'} props.zone
 * @param {number} props.reached epoch ms: what is older is not counted yet
 * @param {(bin: Bin) => void} props.onChoose
 */
export function Bars({ bins, chosen, zone, reached, onChoose }) {
  const [pointed, setPointed] = useState(/** @type {number | null} */ (null));
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const highest = Math.max(1, ...bins.map(({ total }) => total));
  const chosenAt = bins.findIndex(({ from }) => from === chosen?.from);
  const shown = bins[pointed ?? chosenAt] ?? null;

  /** @param {PointerEvent | MouseEvent} event */
  const binUnder = ({ clientX }) => {
    const { left = 0, width = 1 } = host.current?.getBoundingClientRect() ?? {};
    return Math.min(bins.length - 1, Math.max(0, Math.floor(((clientX - left) / width) * bins.length)));
  };
  /** @param {KeyboardEvent} event */
  const onKey = (event) => {
    const next = keyMove(event.key, pointed ?? (chosenAt < 0 ? bins.length : chosenAt), bins.length);
    const bin = pointed === null ? undefined : bins[pointed];
    if (event.key === 'Enter' && bin) onChoose(bin);
    else if (next !== null) setPointed(next);
    else return;
    event.preventDefault();
  };

  return (
    <figure class="bars">
      <figcaption class="bars-readout" aria-live="polite">
        {shown ? wordsOf(shown, zone) : 'Point at a bar to read it; choose it to see its dead letters.'}
      </figcaption>
      <div class="bars-frame">
        <span class="bars-most" aria-hidden="true">
          {formatCount(highest)}
        </span>
        <div
          class="bars-plot"
          ref={host}
          role="img"
          tabIndex={0}
          aria-label="Refusals over time, by code. Arrow keys go from bar to bar, Enter shows its dead letters. The table below has the same figures."
          onPointerMove={(/** @type {PointerEvent} */ event) => setPointed(binUnder(event))}
          onPointerLeave={() => setPointed(null)}
          onBlur={() => setPointed(null)}
          onKeyDown={onKey}
          onClick={(/** @type {MouseEvent} */ event) => {
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
          {reached > (bins[0]?.from ?? 0) && <span class="bars-ahead">Counting back …</span>}
        </div>
        <div class="bars-axis" aria-hidden="true">
          {axisOf(bins, zone).map((text) => (
            <span>{text}</span>
          ))}
        </div>
      </div>
    </figure>
  );
}

/** @param {{ bin: Bin, at: number, highest: number }} props */
function Stack({ bin, at, highest }) {
  let top = HEIGHT;
  const x = at + (1 - FILLED) / 2;
  return byCount(bin.codes).map(([code, count]) => {
    const height = Math.max(LEAST, (count / highest) * HEIGHT);
    top -= height;
    return (
      <rect key={code} class={`bar ${codeOf(code).className}`} x={x} y={top} width={FILLED} height={height} />
    );
  });
}

/** @param {string} key @param {number} at @param {number} count @returns {number | null} */
function keyMove(key, at, count) {
  const target = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: count - 1 }[key];
  return target === undefined ? null : Math.min(Math.max(target, 0), count - 1);
}

/** @param {Bin} bin @param {'local' | 'utc'} zone */
const wordsOf = ({ from, to, deadLetters, codes }, zone) => (
  <>
    <strong>{binName({ from, to }, zone)}</strong>
    {deadLetters === 0
      ? ' nothing refused'
      : ` ${formatCounted(deadLetters, 'dead letter')}: ${byCount(codes)
          .map(([code, count]) => `${formatCount(count)} ${code}`)
          .join(', ')}`}
  </>
);

/** @param {Span} span @param {'local' | 'utc'} zone @returns {string} `2026-11-21 14:00–15:00` */
export const binName = ({ from, to }, zone) => `${formatDateClock(from, zone)}–${formatClock(to, zone)}`;

/** @param {Bin[]} bins @param {'local' | 'utc'} zone @returns {string[]} five times from edge to edge */
function axisOf(bins, zone) {
  const [first, last] = [bins[0]?.from ?? 0, bins.at(-1)?.to ?? 0];
  const withDate = last - first > 2 * 86_400_000;
  return [0, 0.25, 0.5, 0.75, 1].map((share) => {
    const at = first + share * (last - first);
    return withDate ? formatDay(at, zone) : formatClock(at, zone);
  });
}

/**
 * The bars in figures, each with a link to its dead letters.
 *
 * @param {object} props
 * @param {Bin[]} props.bins oldest first
 * @param {'local' | 'utc'} props.zone
 * @param {(bin: Bin) => string} props.hrefOf
 */
export function BinsTable({ bins, zone, hrefOf }) {
  const filled = bins.filter(({ deadLetters }) => deadLetters > 0).reverse();
  return (
    <details class="more-figures">
      <summary>The same as a table</summary>
      <table class="plain">
        <caption class="visually-hidden">Refusals over time, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time {formatZone(zone, bins[0]?.from ?? Date.now())}</th>
            <th scope="col" class="number">
              Dead letters
            </th>
            <th scope="col">Refusals</th>
          </tr>
        </thead>
        <tbody>
          {filled.map((bin) => (
            <tr key={bin.from}>
              <th scope="row">
                <a class="link" href={hrefOf(bin)}>
                  {binName(bin, zone)}
                </a>
              </th>
              <td class="number">{formatCount(bin.deadLetters)}</td>
              <td class="wraps">
                {byCount(bin.codes)
                  .map(([code, count]) => `${formatCount(count)} ${code}`)
                  .join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}
