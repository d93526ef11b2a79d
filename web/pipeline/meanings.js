import { html } from 'htm/preact';

/** @type {[term: string, meaning: string][]} */
const MEANINGS = [
  [
    'Committed',
    'A message is acknowledged to its device only when all of it is written at the consistency that is configured. The time to commit is from its receipt to then.',
  ],
  ['p50, p99', 'Of a hundred messages, 50 and 99 took no longer.'],
  [
    'In flight, window',
    'How many requests to the database are on their way, and how many may be now; INGEST_MAX_IN_FLIGHT is the most. The window grows while the database answers quickly, and shrinks when it answers slowly: so it is kept busy, and never flooded.',
  ],
  [
    'Waiting, pressure',
    'Requests that found no place in the window. While any wait, the system is under pressure: messages stay at the broker or with their devices until there is room. Nothing is dropped.',
  ],
  [
    'Refused',
    'Measurements that cannot be stored, such as a value that is no number. Each is kept as a dead letter, with the reason.',
  ],
  ['Stale', 'Each process tells every 10 s how it is. One that has been silent for 30 s may have died.'],
  ['Packing', 'Closed hours are compressed into history, by processes that have nothing more urgent to do.'],
];

/** For whoever meets these words for the first time. */
export const Meanings = () => html`
  <details class="panel meanings">
    <summary>What these words mean</summary>
    <dl>
      ${MEANINGS.map(([term, meaning]) => html`<div key=${term}><dt>${term}</dt><dd>${meaning}</dd></div>`)}
    </dl>
  </details>
`;
