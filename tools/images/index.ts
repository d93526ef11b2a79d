import { fileURLToPath } from 'node:url';
import { chromium, type Page } from 'playwright-core';
import { runCommand } from '../../common/command.ts';
import { MillraceError } from '../../common/errors.ts';
import { parseFlags } from '../../common/flags.ts';
import { findTools } from '../../infra/bootstrap/index.ts';

const FOLDER = new URL('../../docs/images/', import.meta.url);
const THEMES = ['light', 'dark'] as const;

interface Picture {
  name: string;
  path: string;
  height: number;
}

await runCommand(async () => {
  const { url, wait } = parseFlags(
    {
      command: 'npm run docs:images --',
      help: 'Takes the pictures of README and docs in both themes, of a running system.',
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
  const browser = await chromium.launch({
    executablePath: program.path,
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    for (const picture of await listPictures(url)) {
      const page = await browser.newPage({ viewport: { width: 1280, height: picture.height } });
      await take(page, picture, { url, wait });
      await page.close();
    }
  } finally {
    await browser.close();
  }
});

async function listPictures(url: string): Promise<Picture[]> {
  const response = await fetch(`${url}/api/v1/latest?limit=100`).catch(() => null);
  if (!response?.ok)
    throw new MillraceError('failed', `Nothing answers at ${url}. Start a system there: npm run dev`);
  const { items }: { items: { device: string; name: string; type: string | null }[] } = await response.json();
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

async function take(page: Page, { name, path }: Picture, { url, wait }: { url: string; wait: number }) {
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
