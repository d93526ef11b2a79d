import { html } from 'htm/preact';
import { LEARNING, OFFLINE, SILENT, UNHEARD, USUAL } from '../state/cell-state.js';

const SCALE = Array.from({ length: 2 * USUAL + 1 }, (_, look) => look);
const OTHERS = [
  {
    look: LEARNING,
    label: 'learning its range',
    title:
      'Fewer than five values were seen since this page was opened, and there are too few of its type to compare it with',
  },
  { look: SILENT, label: 'silent', title: 'Nothing for five minutes, or for five of its intervals' },
  {
    look: OFFLINE,
    label: 'device offline',
    title: 'Its device has left, or has not been heard of for five minutes',
  },
  { look: UNHEARD, label: 'no value yet', title: 'Announced, but nothing was measured so far' },
];

/** What the colours and shapes of the wall mean. @param {{ legendRef: { current: HTMLElement | null } }} props */
export const Legend = ({ legendRef }) => html`
  <ul class="wall-legend" ref=${legendRef} aria-label="What the cells mean">
    <li class="wall-scale" title="How far each value is from what its own sensor measured in the last minutes, in its usual spread; of a sensor just met, from what others of its type measure">
      <span>far below</span>
      <span class="wall-scale-steps" aria-hidden="true">
        ${SCALE.map((look) => html`<i key=${look} class="swatch" data-look=${look}></i>`)}
      </span>
      <span>far above its usual</span>
    </li>
    ${OTHERS.map(
      ({ look, label, title }) => html`
        <li key=${look} title=${title}><i class="swatch" data-look=${look} aria-hidden="true"></i>${label}</li>
      `,
    )}
  </ul>
`;
