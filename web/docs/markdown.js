import { html } from 'htm/preact';

/**
 * The little Markdown that our own documents use: paragraphs, tables and `code`.
 *
 * @param {{ text: string | undefined }} props
 */
export const Markdown = ({ text }) =>
  text && html`<div class="prose">${text.split('\n\n').map((block) => blockOf(block))}</div>`;

/** @param {string} block */
function blockOf(block) {
  if (!block.startsWith('|')) return html`<p>${inlineOf(block)}</p>`;
  const [head, , ...rows] = block.split('\n').map(cellsOf);
  return html`
    <table>
      <thead><tr>${head?.map((cell) => html`<th>${inlineOf(cell)}</th>`)}</tr></thead>
      <tbody>
        ${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inlineOf(cell)}</td>`)}</tr>`)}
      </tbody>
    </table>
  `;
}

/** @param {string} line */
const cellsOf = (line) =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());

/** @param {string} text every second part of it stands between backticks */
const inlineOf = (text) =>
  text.split('`').map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part));
