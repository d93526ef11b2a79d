import { html } from 'htm/preact';
import { flowSeconds } from './flow.js';
import { Stage } from './stage.js';
import { stagesOf } from './stages.js';

/** @import { Finding, StageName } from './findings.js' */

/**
 * The data's way from device to reader as it runs. What flows moves with the rate; what is wrong is marked where it is, by sign and word.
 *
 * @param {Parameters<typeof stagesOf>[0] & { findings: Finding[] }} props
 */
export function Way({ findings, ...known }) {
  const flow = flowSeconds(known.stats?.samples_per_s ?? 0);
  return html`
    <ol class="way" aria-label="The data's way">
      ${stagesOf(known).map((stage) => html`<${Stage} key=${stage.name} ...${stage} flow=${flow} finding=${worst(findings, stage.name)} />`)}
    </ol>
  `;
}

/** @param {Finding[]} findings @param {StageName} name @returns {Finding | undefined} */
function worst(findings, name) {
  const here = findings.filter(({ stage }) => stage === name);
  return here.find(({ tone }) => tone === 'bad') ?? here[0];
}
