import { html } from 'htm/preact';
import { wordsOf } from '../api/problem.js';
import { formatAge, formatCount, formatCounted, formatDuration, formatRate } from '../format.js';
import { BEHIND_MS, packingOf } from './storage.js';

/** @import { Pipeline, Stats } from '../api/types.js' */
/** @import { Problem } from '../api/problem.js' */

/**
 * Problems on the data path, each with advice.
 *
 * @typedef {'devices' | 'broker' | 'ingest' | 'database' | 'readers'} StageName
 * @typedef {object} Finding
 * @property {StageName} stage where it is
 * @property {'bad' | 'warn'} tone `bad`: something stands still
 * @property {string} short a few words, for the stage
 * @property {string} title
 * @property {string} advice
 * @property {string} [href] where more is known
 */

/**
 * @param {object} what
 * @param {Pipeline | null} what.pipeline what was known last
 * @param {Problem | null} what.problem why nothing newer is known
 * @param {Stats | null} what.stats
 * @param {number} what.now epoch ms
 * @returns {Finding[]} in the order of the way
 */
export function findingsOf({ pipeline, problem, stats, now }) {
  return [
    ...(problem ? [unanswered(problem)] : []),
    ...(pipeline ? [...ofBroker(pipeline), ...ofProcesses(pipeline, now)] : []),
    ...(stats ? [...ofPressure(stats), ...ofRefusals(stats)] : []),
    ...(pipeline ? [...ofNodes(pipeline), ...ofPacking(pipeline, now)] : []),
  ];
}

/** @param {Problem} problem @returns {Finding} */
function unanswered(problem) {
  const { title, advice } = wordsOf(problem);
  const isDatabase = problem.code === 'unavailable';
  return {
    stage: isDatabase ? 'database' : 'readers',
    tone: 'bad',
    short: isDatabase ? 'does not answer' : 'no answer',
    title,
    advice,
  };
}

/** @param {Pipeline} pipeline @returns {Finding[]} */
function ofBroker({ broker }) {
  if (!broker || broker.ok) return [];
  return [
    {
      stage: 'broker',
      tone: 'bad',
      short: 'not connected',
      title: `The broker is out of reach: ${broker.message}`,
      advice:
        'What devices send waits at the broker or with them. Ingest connects again by itself; see whether the broker runs, and MQTT_URL.',
    },
  ];
}

/** @param {Pipeline} pipeline @param {number} now @returns {Finding[]} */
function ofProcesses({ processes }, now) {
  /** @type {Finding[]} */
  const findings = [];
  if (!processes.some(({ role, stale }) => role !== 'http' && !stale)) {
    findings.push({
      stage: 'ingest',
      tone: 'bad',
      short: 'none runs',
      title: 'No process takes measurements',
      advice: 'Start one with npm start. It then stores the messages that wait at an external broker.',
    });
  }
  for (const { client_id, role, seen } of processes.filter(({ stale }) => stale)) {
    findings.push({
      stage: role === 'http' ? 'readers' : 'ingest',
      tone: 'warn',
      short: 'a process is silent',
      title: `${client_id} has sent no heartbeat for ${formatAge(now - Date.parse(seen))}`,
      advice: 'It died, or cannot reach the database. An hour later it is forgotten.',
    });
  }
  return findings;
}

/** @param {Stats} stats @returns {Finding[]} */
function ofPressure({ waiting, window }) {
  if (waiting === 0) return [];
  return [
    {
      stage: 'ingest',
      tone: 'warn',
      short: 'under pressure',
      title: `Under pressure: ${formatCounted(waiting, 'request waits', 'requests wait')} for a place among ${formatCount(window)}`,
      advice:
        'More comes than the database takes at this latency. Messages wait unacknowledged, and are not lost.',
    },
  ];
}

/** @param {Stats} stats @returns {Finding[]} */
function ofRefusals({ refused_per_s }) {
  if (refused_per_s === 0) return [];
  return [
    {
      stage: 'ingest',
      tone: 'warn',
      short: 'refuses some',
      title: `Measurements are refused: ${formatRate(refused_per_s)} a second`,
      advice: 'Each is kept, with the reason.',
      href: '/dead-letters',
    },
  ];
}

/** @param {Pipeline} pipeline @returns {Finding[]} */
function ofNodes({ database: { nodes } }) {
  const down = nodes.filter(({ up }) => !up);
  if (down.length === 0) return [];
  const isAll = down.length === nodes.length;
  return [
    {
      stage: 'database',
      tone: isAll ? 'bad' : 'warn',
      short: isAll ? 'all nodes are down' : `${down.length} of ${formatCounted(nodes.length, 'node')} down`,
      title: `${isAll ? 'All nodes' : `${down.length} of ${formatCounted(nodes.length, 'node')}`} of the database ${down.length === 1 ? 'is' : 'are'} down: ${down.map(({ address }) => address).join(', ')}`,
      advice: isAll
        ? 'Nothing is acknowledged until one is back; nothing is lost.'
        : 'With three replicas nothing stands still while two are up. Give the node back what it missed by a repair.',
    },
  ];
}

/** @param {Pipeline} pipeline @param {number} now @returns {Finding[]} */
function ofPacking({ packed_until }, now) {
  const { behindMs } = packingOf(packed_until, now);
  if (behindMs < BEHIND_MS) return [];
  return [
    {
      stage: 'database',
      tone: 'warn',
      short: 'packing is behind',
      title: `Packing is ${formatDuration(behindMs)} behind`,
      advice:
        'It gives way to ingest, and catches up when there is less to do. Charts are as exact, but long ones slower.',
    },
  ];
}

/**
 * The list of findings with their advice.
 *
 * @param {{ findings: Finding[] }} props
 */
export const Findings = ({ findings }) => html`
  <ul class="findings" aria-label="What needs a look">
    ${findings.map(
      ({ title, tone, advice, href }) => html`
        <li key=${title} class="finding" data-tone=${tone}>
          <span class="finding-sign" aria-hidden="true">${tone === 'bad' ? '✕' : '!'}</span>
          <p><strong>${title}.</strong> ${advice} ${href && html`<a class="link" href=${href}>See them</a>`}</p>
        </li>
      `,
    )}
  </ul>
`;

/** All of it in a few words. @param {{ count: number, isKnown: boolean }} props */
export function Verdict({ count, isKnown }) {
  const words =
    count === 0
      ? isKnown
        ? '✓ All is well'
        : 'Looking …'
      : `! ${formatCounted(count, 'thing needs', 'things need')} a look`;
  return html`<p class="verdict" role="status" data-tone=${count > 0 ? 'warn' : isKnown ? 'good' : undefined}>${words}</p>`;
}
