import { type BrowserContextOptions, chromium, type Page, type Response } from 'playwright-core';
import { findTools } from '../../../infra/bootstrap/index.ts';
import { watchAnswer, watchLater } from '../contract/watch.ts';

/** Flags for tests: no sandbox, because tests may run as root, no graphics card, and no requests except to the page's own server. */
const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Time limit of a page for each step, in ms. A CI machine shares its processors with others. */
const STEP_MS = process.env['CI'] ? 120_000 : 60_000;

export async function startBrowser(): Promise<TestBrowser> {
  const { chromium: program } = await findTools(['chromium']);
  const browser = await chromium.launch({ executablePath: program?.path, args: ARGUMENTS, timeout: STEP_MS });

  return {
    async open(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1360, height: 900 }, ...options });
      context.setDefaultTimeout(STEP_MS);
      const page = await context.newPage();
      const complaints: string[] = [];
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(String(error.stack)));
      page.on('response', (response) => watchLater(() => watch(response)));
      return { page, complaints, close: () => context.close() };
    },
    stop: () => browser.close(),
  };
}

async function watch(response: Response) {
  const { pathname, search } = new URL(response.url());
  const headers = response.headers();
  // A browser never reads the body of a refused stream.
  const isRead = response.request().resourceType() !== 'eventsource';
  const isJson = isRead && /^application\/(problem\+)?json/.test(headers['content-type'] ?? '');
  watchAnswer({
    method: response.request().method(),
    path: pathname + search,
    status: response.status(),
    header: (name) => headers[name],
    text: isJson ? await response.text() : null,
  });
}

export interface OpenPage {
  page: Page;
  /** errors and warnings of the console, uncaught errors, refusals of the content policy */
  complaints: string[];
  close: () => Promise<void>;
}

export interface TestBrowser {
  /** a new page, which shares nothing with earlier ones */
  open: (options?: BrowserContextOptions) => Promise<OpenPage>;
  stop: () => Promise<void>;
}
