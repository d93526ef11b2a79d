import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { runCommand } from '../../common/command.js';
import { MillraceError } from '../../common/errors.js';
import { parseFlags } from '../../common/flags.js';
import { findTools } from '../../infra/bootstrap/index.js';

/** @import { Page } from 'playwright-core' */

const FOLDER = new URL('../../docs/images/', import.meta.url);
const THEMES = /** @type {const} */ (['light', 'dark']);

/**
 * A picture of the documents.
 *
 * @typedef {object} Picture
 * @property {string} name name of the two files, before the theme
 * @property {string} path of the view
 * @property {number} height of the window, in px
 */

await runCommand(async () => {
  const { url, wait } = parseFlags(
    {
      command: 'npm run docs:images --',
      help: 'Takes the pictures of README and docs from a running system, in both themes.',
      examples: ['npm run docs:images', 'npm run docs:images -- --url http://127.0.0.1:8081 --wait 30s'],
      flags: {
        url: { type: 'text', help: 'address of the dashboard', fallback: 'http://127.0.0.1:8080' },
        wait: { type: 'duration', help: 'from the opening of a view to its picture', fallback: 20_000 },
      },
    },
    process.argv.slice(2),
  );
  const { chromium: program } = await findTools(['chromium']);
  if (!program) throw new MillraceError('failed', 'Chromium is missing. Install the package chromium.');
  const pictures = await listPictures(url);
  const browser = await chromium.launch({
    executablePath: program.path,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    for (const picture of pictures) {
      const page = await browser.newPage({ viewport: { width: 1280, height: picture.height } });
      await take(page, picture, { url, wait });
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

/**
 * @param {string} url URL of the dashboard
 * @returns {Promise<Picture[]>}
 * @throws {MillraceError} `failed`: the system does not answer, or has no sensor
 */
async function listPictures(url) {
  const response = await fetch(`${url}/api/v1/latest?limit=100`).catch(() => null);
  if (!response?.ok)
    throw new MillraceError('failed', `Nothing answers at ${url}. Start a system there: npm run dev`);
  /** @type {{ items: { device: string, name: string, type: string | null }[] }} */
  const { items } = await response.json();
  const sensor = items.find(({ type }) => type === 'temperature') ?? items[0];
  if (!sensor) throw new MillraceError('failed', `The system at ${url} has no sensor.`);
  return [
    { name: 'fleet', path: '/', height: 860 },
    { name: 'pipeline', path: '/pipeline', height: 860 },
    {
      name: 'sensor',
      path: `/devices/${encodeURIComponent(sensor.device)}/sensors/${encodeURIComponent(sensor.name)}?range=15m`,
      height: 900,
    },
  ];
}

/**
 * Opens a view, waits for its lines to fill, and saves a picture in each theme.
 *
 * @param {Page} page
 * @param {Picture} picture
 * @param {{ url: string, wait: number }} options `wait` in ms
 */
async function take(page, { name, path }, { url, wait }) {
  await page.goto(url + path);
  await page.locator('.connection', { hasText: 'Live' }).waitFor();
  await page.waitForTimeout(wait);
  for (const theme of THEMES) {
    await page.emulateMedia({ colorScheme: theme });
    // The wall of cells is drawn again in the next frame.
    await page.waitForTimeout(500);
    const file = `${name}-${theme}.png`;
    await page.screenshot({ path: fileURLToPath(new URL(file, FOLDER)) });
    console.log(`docs/images/${file} is written`);
  }
}
