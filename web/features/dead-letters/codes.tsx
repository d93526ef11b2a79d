import { formatCount } from '../../format.ts';
import { Table } from '../../kit/table.tsx';
import type { Refusal } from './api.ts';
import { escapeLine } from './text.ts';

/** A refusal code of docs/reference/errors.md, with its meaning, advice, and appearance. */
interface RefusalCode {
  /** title of the code as in docs/reference/errors.md; a test compares the two texts */
  title: string;
  advice: string;
  /** classes of dead-letters.css: a hue and, for the second code of a hue, `light` */
  className: string;
}

export const CODES: Record<string, RefusalCode> = {
  malformed: {
    title: 'The payload does not match its format',
    advice:
      'The text of the dead letter shows where the format breaks. JSON has no NaN and no trailing comma.',
    className: 'hue-2',
  },
  unknown_format: {
    title: 'No decoder knows this content type or shape',
    advice: 'Send plain JSON or SenML, or correct the content type.',
    className: 'hue-8',
  },
  bad_id: {
    title: 'An id is a lower-case UUID or a name of 1 to 128 bytes',
    advice:
      'Correct the field that the dead letter names. Every measurement needs a sensor_id; names have no control characters.',
    className: 'hue-3 light',
  },
  bad_timestamp: {
    title: 'The time is neither epoch milliseconds nor ISO 8601',
    advice: 'Send ts as epoch milliseconds or ISO 8601; SenML counts in seconds.',
    className: 'hue-3',
  },
  too_old: {
    title: 'The time is before the retention of history',
    advice: "Set the device's clock; or keep more, by HISTORY_DAYS, and replay.",
    className: 'hue-7',
  },
  in_future: {
    title: 'The time is further ahead than MAX_CLOCK_SKEW allows',
    advice: "Set the device's clock. Once the time has come, a replay stores it.",
    className: 'hue-1',
  },
  not_finite: {
    title: 'The value is infinite or NaN',
    advice: 'Leave out a value that the sensor could not measure.',
    className: 'hue-4 light',
  },
  not_numeric: {
    title: 'The value is not a number',
    advice: 'Send a number without quotes. Texts are not kept.',
    className: 'hue-4',
  },
  too_large: {
    title: 'The message is over MAX_MESSAGE_BYTES or 10,000 samples',
    advice: 'Send smaller batches.',
    className: 'hue-2 light',
  },
  unknown_device: {
    title: 'The device has not registered',
    advice: 'Let the device send its birth, or set AUTO_REGISTER; then replay.',
    className: 'hue-5',
  },
  unknown_sensor: {
    title: 'The sensor has not registered',
    advice: "Name the sensor in the device's birth; then replay.",
    className: 'hue-5 light',
  },
  registration_limit: {
    title: 'The limit of devices or sensors is reached',
    advice: 'Retire what is gone, or raise AUTO_REGISTER_MAX; then replay.',
    className: 'hue-6',
  },
  other_session: {
    title: 'The death certificate is of another session of its edge node',
    advice:
      'A late last will needs nothing. Otherwise give NBIRTH and NDEATH of a connection the same bdSeq.',
    className: 'hue-6 light',
  },
  rejected: {
    title: 'The database rejects this content',
    advice: 'The log of the API has the reason.',
    className: 'hue-0',
  },
};

/** The text for unknown codes, which a newer API may send. */
const UNKNOWN: RefusalCode = {
  title: 'A code that this dashboard does not know',
  advice: 'See docs/reference/errors.md.',
  className: 'hue-0',
};

export const codeOf = (code: string): RefusalCode =>
  Object.hasOwn(CODES, code) ? (CODES[code] ?? UNKNOWN) : UNKNOWN;

/** @returns codes and counts, the most frequent first */
export const byCount = (codes: Record<string, number>): [code: string, count: number][] =>
  Object.entries(codes).sort(([a, countA], [b, countB]) => countB - countA || (a < b ? -1 : 1));

const MEANING = 'What it means, and what to do';

const Meaning = ({ code }: { code: string }) => (
  <>
    {codeOf(code).title}. <span class="advice">{codeOf(code).advice}</span>
  </>
);

/** Renders the table of refusal codes with count, meaning and advice. The table is also the legend of the bars. */
export const CodeTable = ({
  codes,
  chosen,
  hrefOf,
}: {
  codes: Record<string, number>;
  /** the code by which the list is filtered */
  chosen: string | null;
  /** returns the address of the list filtered by a code */
  hrefOf: (code: string) => string;
}) => (
  <Table
    class="plain stacks codes"
    caption="Refusals by code"
    rows={byCount(codes)}
    keyOf={([code]) => code}
    rowAttributes={([code]) => ({ 'aria-current': code === chosen ? 'true' : undefined })}
    columns={[
      {
        label: 'Code',
        isName: true,
        width: '13rem',
        cell: ([code]) => (
          <a class="link" href={hrefOf(code)} title="Show the dead letters of this code">
            <Code code={code} />
          </a>
        ),
      },
      { label: 'Refusals', class: 'number', width: '8rem', cell: ([, count]) => formatCount(count) },
      { label: MEANING, class: 'wraps whole', cell: ([code]) => <Meaning code={code} /> },
    ]}
  />
);

/** Renders a code with its colored sign and its name. @param props `code`: refusal code */
export const Code = ({ code }: { code: string }) => (
  <span class="code">
    <span class={`code-sign ${codeOf(code).className}`} aria-hidden="true" />
    <code>{code}</code>
  </span>
);

/** Maximum number of reasons that are shown for a code. The payload below the table marks every refused measurement. */
const MOST_REASONS = 3;

/**
 * Renders the table of the refused measurements of a message, with reasons.
 *
 * @param props `element`: noun for an element of the message
 */
export const RefusedTable = ({
  refused,
  caption,
  element,
}: {
  refused: Refusal[];
  caption: string;
  element: string;
}) => (
  <Table
    class="plain stacks refused"
    caption={caption}
    rows={[...indexesByCode(refused)]}
    keyOf={([code]) => code}
    columns={[
      { label: 'Code', isName: true, width: '13rem', cell: ([code]) => <Code code={code} /> },
      {
        label: `${element[0]?.toUpperCase()}${element.slice(1)}s`,
        class: 'indexes',
        width: '16rem',
        cell: ([, indexes]) => indexText(indexes),
      },
      {
        label: MEANING,
        class: 'wraps whole',
        cell: ([code]) => (
          <>
            {reasonsOf(refused, code, MOST_REASONS).map((text) => (
              <code class="reason">{escapeLine(text)}</code>
            ))}
            <Meaning code={code} />
          </>
        ),
      },
    ]}
  />
);

/** @returns indexes of refused elements by code; codes in order of first occurrence */
export function indexesByCode(refused: Refusal[]): Map<string, number[]> {
  const byCode: Map<string, number[]> = new Map();
  for (const { index, code } of refused) byCode.set(code, [...(byCode.get(code) ?? []), index]);
  return byCode;
}

/** @returns distinct reasons, such as `[2].value: must be a number`, up to the limit */
export function reasonsOf(refused: Refusal[], code: string, limit: number): string[] {
  const texts: Set<string> = new Set();
  for (const refusal of refused) {
    if (texts.size === limit) break;
    if (refusal.code === code && refusal.rule) {
      texts.add(refusal.path ? `${refusal.path}: ${refusal.rule}` : refusal.rule);
    }
  }
  return [...texts];
}

/** @returns noun for an element of the messages on a topic */
export function elementOf(topic: string): 'measurement' | 'sensor' | 'metric' {
  if (topic.startsWith('spBv1.0/')) return 'metric';
  return topic.endsWith('/birth') ? 'sensor' : 'measurement';
}

/** @param indexes indexes in ascending order; -1 is the message as a whole @returns `[0]–[5], [7]` */
export function indexText(indexes: number[]): string {
  if (indexes.includes(-1)) return 'the whole message';
  const runs: [first: number, last: number][] = [];
  for (const index of indexes) {
    const run = runs.at(-1);
    if (run && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([first, last]) => (first === last ? `[${first}]` : `[${first}]–[${last}]`)).join(', ');
}
