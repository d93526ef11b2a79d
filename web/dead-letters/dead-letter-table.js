import { html } from 'htm/preact';
import { formatBytes, formatCount, formatDateTime, formatZone, NOTHING } from '../format.js';
import { deviceHref } from '../routes.js';
import { Code } from './code-table.js';
import { byCount } from './codes.js';
import { escapeLine } from './escape.js';

/** @import { DeadLetter } from '../api/types.js' */

/**
 * @param {object} props
 * @param {DeadLetter[] | null} props.letters null while the first page is asked for
 * @param {boolean} props.busy
 * @param {'local' | 'utc'} props.zone
 * @param {(id: string) => string} props.hrefOf a letter, opened
 */
export const LetterTable = ({ letters, busy, zone, hrefOf }) => html`
  <table class="plain stacks letters" aria-busy=${busy}>
    <caption class="said">Dead letters, newest first</caption>
    <thead>
      <tr>
        <th scope="col" class="col-time">Received ${formatZone(zone, Date.now())}</th>
        <th scope="col" class="col-of">Device</th>
        <th scope="col" class="col-topic">Topic</th>
        <th scope="col" class="col-codes">Refused</th>
        <th scope="col" class="col-size number">Size</th>
      </tr>
    </thead>
    <tbody>
      ${
        letters
          ? letters.map(
              (letter) =>
                html`<${Row} key=${letter.id} letter=${letter} zone=${zone} href=${hrefOf(letter.id)} />`,
            )
          : Array.from(
              { length: 6 },
              (_, row) =>
                html`<tr key=${row} class="waiting" aria-hidden="true"><td colspan="5"><span class="bar-gap"></span></td></tr>`,
            )
      }
    </tbody>
  </table>
`;

/** @param {{ letter: DeadLetter, zone: 'local' | 'utc', href: string }} props */
const Row = ({ letter, zone, href }) => html`
  <tr>
    <th scope="row" class="col-time">
      <a class="row-link" href=${href}><time datetime=${letter.ts}>${formatDateTime(Date.parse(letter.ts), zone)}</time></a>
    </th>
    <td class="col-of whole"><${DeviceLink} device=${letter.device} /></td>
    <td class="col-topic" title=${escapeLine(letter.topic)}>${escapeLine(letter.topic)}</td>
    <td class="col-codes whole">
      ${byCount(letter.codes).map(([code, count]) => html`<span class="code-count" key=${code}><${Code} code=${code} />${count > 1 && ` ${formatCount(count)}`}</span>`)}
    </td>
    <td class="col-size number">${letter.size === null ? html`<span title="Only the counts were kept">${NOTHING}</span>` : formatBytes(letter.size)}</td>
  </tr>
`;

/** A letter tells the device as its topic has it; that need not be one that is known. @param {{ device: string | null }} props */
export const DeviceLink = ({ device }) =>
  device === null
    ? html`<span class="quiet">several</span>`
    : html`<a class="link" href=${deviceHref(device)}>${escapeLine(device)}</a>`;
