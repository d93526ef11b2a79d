import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import mqtt from 'mqtt';
import type { BrowserContextOptions, Locator } from 'playwright-core';
import { readMetric } from '../metrics.ts';
import { startTestSystem, type TestSystem } from '../system/index.ts';
import { until } from '../until.ts';
import { type OpenPage, startBrowser, type TestBrowser } from './browser.ts';
import { overflowOf, paperFaults, smallTexts } from './legibility.ts';

interface Axe {
  run(document: Document, options: object): Promise<{ violations: Violation[] }>;
}
interface Violation {
  id: string;
  impact: string;
  nodes: { html: string; failureSummary: string }[];
}

const SCREENSHOTS = fileURLToPath(new URL('../../../.data/screenshots/', import.meta.url));
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const PHONE = { width: 390, height: 844 };
/** A screen of 4K. */
export const SCREEN = { width: 3840, height: 2160 };
/** A sheet of A4 without its margins, at 96 CSS pixels an inch. */
const SHEET = { width: 720, height: 1000 };
/** The smallest text on a screen of 4K, in CSS pixels. On a usual screen it has 11. */
const MIN_TEXT = 14;

/**
 * Opens the dashboard of a test system in a browser. The system starts before the first test of the file, each test has a new page, and
 * all of it is removed at the end. A test fails when its page reports an error or a warning.
 */
export function useDashboard({
  system: systemOptions,
  fill,
}: {
  system?: Parameters<typeof startTestSystem>[0];
  fill?: (dashboard: Dashboard) => Promise<void>;
} = {}) {
  const dashboard = new Dashboard();

  beforeAll(async () => {
    await mkdir(SCREENSHOTS, { recursive: true });
    dashboard.system = await startTestSystem(systemOptions);
    dashboard.browser = await startBrowser();
    const { username, password } = dashboard.system.config.mqtt;
    const account = username === undefined ? {} : { username, password: String(password) };
    dashboard.client = await mqtt.connectAsync(dashboard.system.mqttUrl, account);
    await fill?.(dashboard);
  });

  afterAll(async () => {
    await dashboard.client?.endAsync(true);
    await dashboard.browser?.stop();
    await dashboard.system?.stop();
  });

  beforeEach(() => dashboard.open());

  afterEach(async () => {
    const { complaints } = dashboard.opened;
    await dashboard.opened.close();
    expect(dashboard.takeUnexpected(complaints)).toEqual([]);
  });

  return dashboard;
}

export class Dashboard {
  system!: TestSystem;
  browser!: TestBrowser;
  client!: MqttClient;
  opened!: OpenPage;

  /** Errors that the pages of this test may report. */
  #expected: RegExp[] = [];

  get page() {
    return this.opened.page;
  }

  /** Opens a new page that shares nothing with the previous one, and closes that. */
  async open(options?: BrowserContextOptions) {
    await this.opened?.close();
    this.opened = await this.browser.open(options);
  }

  visit = (path: string) => this.page.goto(this.system.httpUrl + path);

  /** @returns the expected errors and warnings of the page, which are then forgotten */
  takeComplaints = (): string[] => this.opened.complaints.splice(0);

  /**
   * Lets the pages of this test report some errors until the test ends. The console may have an error later than the page shows it.
   * @param pattern of the expected errors and warnings
   */
  expectComplaints(pattern: RegExp) {
    this.#expected.push(pattern);
  }

  /** @param complaints of a page @returns the unexpected ones; afterwards none is expected */
  takeUnexpected(complaints: string[]): string[] {
    const expected = this.#expected.splice(0);
    return complaints.filter((complaint) => !expected.some((pattern) => pattern.test(complaint)));
  }

  /** @param birth its session is now by default */
  announce = (device: string, birth: Record<string, unknown>) =>
    this.#publish(`iot/v1/${device}/birth`, { session: Date.now(), name: device, ...birth });

  publish = (device: string, measurements: Record<string, unknown> | Record<string, unknown>[]) =>
    this.#publish(`iot/v1/${device}/measurements`, measurements);

  #publish = (topic: string, payload: unknown) =>
    this.client.publishAsync(topic, JSON.stringify(payload), { qos: 1 });

  /**
   * Waits until an element has the focus. A page may move the focus after it is drawn, so a key pressed before could reach another
   * element.
   */
  untilFocused = (element: Locator) =>
    element.and(this.page.locator(':focus')).waitFor({ state: 'attached' });

  /** Opens the menu of the header, so that its choices are visible. */
  openDisplayMenu = () => this.page.getByRole('button', { name: 'Theme and time zone' }).click();

  rows = () => this.page.locator('table.sensors tbody tr:not(.waiting)');

  untilRows = (count: number) =>
    until(async () => (await this.rows().count()) === count, { what: `${count} rows` });

  /** @param selector of a canvas @returns different colors on it: 1 if nothing is drawn */
  paintedColors = (selector: string): Promise<number> =>
    this.page.evaluate((found) => {
      const canvas = document.querySelector(found) as HTMLCanvasElement | null;
      if (!canvas) return 1;
      // Reads a copy, because the browser warns about slow reads from a canvas in use.
      const { width, height } = canvas;
      const copy = Object.assign(document.createElement('canvas'), { width, height });
      const context = copy.getContext('2d', { willReadFrequently: true });
      context?.drawImage(canvas, 0, 0);
      const picture = context?.getImageData(0, 0, width, height);
      return new Set(picture ? new Uint32Array(picture.data.buffer) : []).size;
    }, selector);

  /**
   * Saves screenshots of the page under `.data/screenshots/`, in both themes and the width of a phone, and checks each for
   * accessibility.
   */
  async lookAt(name: string) {
    const wide = this.page.viewportSize() ?? PHONE;
    for (const colorScheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.#examine(`${name}-${colorScheme}`);
    }
    await this.page.setViewportSize(PHONE);
    await this.#examine(`${name}-phone`);
    expect(await overflowOf(this.page)).toBeLessThanOrEqual(0);
    await this.page.setViewportSize(wide);
  }

  /**
   * Saves screenshots of the page in both themes, as `lookAt` does, on a screen of 4K. Fails if a text is too small to be read, or if the
   * page is wider than the screen. The page must have had this size since it was opened.
   */
  async lookAtScreen(name: string) {
    expect(this.page.viewportSize()).toEqual(SCREEN);
    // The first drawings may be of a room that is not measured yet. They do not count, and another theme draws all again.
    await smallTexts(this.page, 0);
    for (const colorScheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme });
      await this.#examine(`${name}-4k-${colorScheme}`);
    }
    expect(await smallTexts(this.page, MIN_TEXT)).toEqual([]);
    expect(await overflowOf(this.page)).toBeLessThanOrEqual(0);
  }

  /**
   * Saves a screenshot of the page as it is printed. Fails on what a sheet cannot have: a control, a dark ground, light text, a part that
   * stays in place over the content, or a page that is wider than the sheet.
   */
  async lookAtPaper(name: string) {
    const wide = this.page.viewportSize() ?? PHONE;
    await this.page.setViewportSize(SHEET);
    await this.page.emulateMedia({ media: 'print' });
    await this.#untilDrawn();
    await this.page.screenshot({ path: `${SCREENSHOTS}${name}-paper.png`, fullPage: true });
    expect(await paperFaults(this.page)).toEqual([]);
    expect(await overflowOf(this.page)).toBeLessThanOrEqual(0);
    await this.page.emulateMedia({ media: null });
    await this.page.setViewportSize(wide);
  }

  /** Waits until the page has drawn after a change of its size: first it measures, then it draws its canvases. */
  #untilDrawn = () =>
    this.page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
    });

  /** @param name of the screenshot */
  #examine = (name: string) =>
    this.#withoutMotion(async () => {
      await this.page.screenshot({ path: `${SCREENSHOTS}${name}.png`, fullPage: true });
      await this.#checkAccessibility();
    });

  /** Fails on anything that axe-core calls serious or critical. */
  expectAccessible = () => this.#withoutMotion(() => this.#checkAccessibility());

  /** Fails on anything that axe-core finds. */
  expectNoViolation = () => this.#withoutMotion(async () => expect(await this.#axe()).toEqual([]));

  /** Works on a page at rest: a new value that fades in has too little contrast at first. */
  async #withoutMotion(work: () => Promise<void>) {
    await this.page.emulateMedia({ reducedMotion: 'reduce' });
    // Animations that run already continue to their end.
    await this.page.evaluate(() =>
      Promise.allSettled(document.getAnimations().map(({ finished }) => finished)).then(() => {}),
    );
    await work();
    await this.page.emulateMedia({ reducedMotion: null });
  }

  async #checkAccessibility() {
    // The page's policy blocks scripts of other hosts. It does not apply to scripts of the debugger.
    const found = await this.#axe();
    const serious = found.filter(({ impact }) => impact === 'serious' || impact === 'critical');
    expect(serious).toEqual([]);
  }

  async #axe(): Promise<Array<{ id: string; impact: string; nodes: string[] }>> {
    if (!(await this.page.evaluate(() => 'axe' in window))) {
      await this.page.evaluate(await readFile(AXE, 'utf8'));
    }
    return this.page.evaluate(async () => {
      const { violations } = await (window as unknown as { axe: Axe }).axe.run(document, {
        resultTypes: ['violations'],
      });
      return violations.map(({ id, impact, nodes }) => ({
        id,
        impact,
        nodes: nodes.map(({ html, failureSummary }) => `${html}: ${failureSummary}`),
      }));
    });
  }
}

/** Waits until the API serves some event streams. The page does not see the requests of a shared worker. */
export const untilStreams = (system: TestSystem, count: number) =>
  until(async () => (await readMetric(system, 'iot_http_streams')) === count, {
    what: `${count} event streams`,
  });
