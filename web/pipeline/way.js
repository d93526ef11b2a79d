import { html } from 'htm/preact';
import { formatCount, formatCounted, formatMs, formatRate, NOTHING } from '../format.js';
import { flowSeconds } from './flow.js';

/**
 * @typedef {import('../api/types.js').Pipeline} Pipeline
 * @typedef {import('../api/types.js').Stats} Stats
 * @typedef {import('./findings.js').Finding} Finding
 * @typedef {import('./findings.js').StageName} StageName
 */

/** Drawings of 24 by 24. @type {Record<StageName, string>} */
const SIGNS = {
  devices: 'M8 3h8v18H8ZM11 18h2M4 8.5a6 6 0 0 0 0 7M20 8.5a6 6 0 0 1 0 7',
  broker: 'M12 4v16M4 8h8M12 12h8M4 16h8M4 6v4M20 10v4M4 14v4',
  ingest: 'M4 5h16l-6 7v7l-4-2v-5Z',
  database: 'M5 6.5c0-3.3 14-3.3 14 0s-14 3.3-14 0v11c0 3.3 14 3.3 14 0v-11M5 12c0 3.3 14 3.3 14 0',
  readers: 'M3 5h18v11H3ZM9 20h6M12 16v4M6 13l3.500-4 3 2.500L17 8',
};

/**
 * The data's way from device to reader as it runs. What flows moves with the rate; what is wrong is marked where it is, by sign and word.
 *
 * @param {object} props
 * @param {Pipeline | null} props.pipeline
 * @param {Stats | null} props.stats
 * @param {import('../api/types.js').FleetInfo | null} props.fleet
 * @param {import('../api/stream.js').StreamStatus} props.status of this page's connection
 * @param {Finding[]} props.findings
 */
export function Way({ pipeline, stats, fleet, status, findings }) {
  const running = pipeline?.processes.filter(({ stale }) => !stale) ?? [];
  const intakes = running.filter(({ role }) => role !== 'http').length;
  const servers = running.filter(({ role }) => role !== 'ingest').length;
  const nodes = pipeline?.database.nodes ?? [];
  const flow = flowSeconds(stats?.samples_per_s ?? 0);
  /** @type {{ name: StageName, title: string, fine: string, figures: FigureProps[] }[]} */
  const stages = [
    {
      name: 'devices',
      title: 'Devices',
      fine: fleet ? `${formatCount(fleet.devices.online + fleet.devices.offline)} registered` : '',
      figures: [
        {
          label: 'Online',
          value: formatCount(fleet?.devices.online),
          title: 'Devices that say they are there, or were heard of within 5 minutes',
        },
        { label: 'Offline', value: formatCount(fleet?.devices.offline) },
      ],
    },
    {
      name: 'broker',
      title: 'Broker',
      fine: pipeline?.broker?.ok ? pipeline.broker.says : '',
      figures: [
        {
          label: 'Ingest is',
          value: pipeline?.broker ? (pipeline.broker.ok ? 'Connected' : 'Cut off') : NOTHING,
          title: 'Whether what devices publish reaches ingest',
        },
      ],
    },
    {
      name: 'ingest',
      title: 'Ingest',
      fine: formatCounted(intakes, 'process', 'processes'),
      figures: [
        {
          label: 'Stored',
          value: formatRate(stats?.samples_per_s),
          unit: 'samples/s',
          title: 'Measurements that were committed, a second, over the last five seconds',
        },
        {
          label: 'In flight',
          value: formatCount(stats?.in_flight),
          unit: `of ${formatCount(stats?.window)}`,
          title: 'Requests to the database on their way, and how many may be: the window',
        },
        {
          label: 'Waiting',
          value: formatCount(stats?.waiting),
          title: 'Requests that wait for a place in the window',
          tone: stats?.waiting ? 'warn' : undefined,
        },
        {
          label: 'Refused',
          value: formatRate(stats?.refused_per_s),
          unit: '/s',
          title: 'Measurements that became dead letters',
          tone: stats?.refused_per_s ? 'warn' : undefined,
        },
      ],
    },
    {
      name: 'database',
      title: 'Database',
      fine:
        nodes.length > 0
          ? `${nodes.filter(({ up }) => up).length} of ${formatCounted(nodes.length, 'node')} up`
          : '',
      figures: [
        {
          label: 'Commit p50',
          value: formatMs(stats?.commit_ms.p50),
          unit: 'ms',
          title: 'From the receipt of a message to its commit: half of them are quicker',
        },
        {
          label: 'Commit p99',
          value: formatMs(stats?.commit_ms.p99),
          unit: 'ms',
          title: 'Of a hundred messages, 99 are quicker',
        },
      ],
    },
    {
      name: 'readers',
      title: 'Readers',
      fine: formatCounted(servers, 'process serves', 'processes serve'),
      figures: [
        {
          label: 'This page',
          value: { live: 'Live', connecting: 'Connecting', reconnecting: 'Reconnecting' }[status],
          title: 'Whether changes reach this page by themselves',
        },
      ],
    },
  ];
  return html`
    <ol class="way" aria-label="The data's way">
      ${stages.map((stage) => html`<${Stage} key=${stage.name} ...${stage} flow=${flow} finding=${worst(findings, stage.name)} />`)}
    </ol>
  `;
}

/** @typedef {{ label: string, value: string, unit?: string, title?: string, tone?: 'warn' | undefined }} FigureProps */

/** @param {{ name: StageName, title: string, fine: string, figures: FigureProps[], flow: number | null, finding: Finding | undefined }} props */
const Stage = ({ name, title, fine, figures, flow, finding }) => html`
  <li class="stage" data-tone=${finding?.tone} data-stage=${name}>
    <svg class="stage-pipe" aria-hidden="true" data-flows=${flow !== null && finding?.tone !== 'bad'} style=${{ '--flow': `${flow ?? 0}s` }}>
      <line class="pipe-across" x1="0" y1="50%" x2="100%" y2="50%" />
      <line class="pipe-flow pipe-across" x1="0" y1="50%" x2="100%" y2="50%" />
      <line class="pipe-down" x1="50%" y1="0" x2="50%" y2="100%" />
      <line class="pipe-flow pipe-down" x1="50%" y1="0" x2="50%" y2="100%" />
    </svg>
    <span class="stage-sign" aria-hidden="true"><svg viewBox="0 0 24 24"><path d=${SIGNS[name]} /></svg></span>
    <div class="stage-words">
      <h2>${title}</h2>
      <p class="stage-fine">${finding ? html`<strong class="stage-wrong">${finding.tone === 'bad' ? '✕' : '!'} ${finding.short}</strong>` : html`${fine && '✓ '}${fine}`}</p>
      <dl>
        ${figures.map(
          ({ label, value, unit, title: meaning, tone }) => html`
            <div key=${label} title=${meaning} data-tone=${tone}>
              <dt>${label}</dt>
              <dd><span class="stage-value">${value}</span>${unit && html` <span class="stage-unit">${unit}</span>`}</dd>
            </div>
          `,
        )}
      </dl>
    </div>
  </li>
`;

/** @param {Finding[]} findings @param {StageName} name @returns {Finding | undefined} */
function worst(findings, name) {
  const here = findings.filter(({ stage }) => stage === name);
  return here.find(({ tone }) => tone === 'bad') ?? here[0];
}
