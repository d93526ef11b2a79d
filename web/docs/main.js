import { html, render } from 'htm/preact';
import { Page } from './page.js';

/** @param {string} path @returns {Promise<any>} */
async function load(path) {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

const root = /** @type {HTMLElement} */ (document.getElementById('docs'));
try {
  const [openApi, asyncApi] = await Promise.all([load('/openapi.json'), load('/asyncapi.json')]);
  render(html`<${Page} openApi=${openApi} asyncApi=${asyncApi} />`, root);
  // The sections are there only now: a browser looked for the address's one before.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  render(
    html`<p class="failed" role="alert">The documents could not be read (${String(error)}). Reload to try again.</p>`,
    root,
  );
}
