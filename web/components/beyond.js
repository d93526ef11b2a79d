import { html } from 'htm/preact';

const WORDS = { low: '▼ low', high: '▲ high', both: '▲▼ both' };

/** Marks what is beyond the lines that the reader drew. @param {{ side: keyof typeof WORDS | null }} props */
export const Beyond = ({ side }) => side && html`<span class="beyond">${WORDS[side]}</span> `;
