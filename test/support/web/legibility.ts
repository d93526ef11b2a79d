import type { Page } from 'playwright-core';

/** @returns CSS pixels by which the page is wider than its window */
export const overflowOf = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/**
 * Notes the size of each text that the page draws on a canvas. Charts and the cards of the wall are canvases.
 * @param page before it has an address
 */
export const watchCanvasTexts = (page: Page) =>
  page.addInitScript(() => {
    /** The smallest size of each text, in CSS pixels. */
    const canvasTexts: Map<string, number> = new Map();
    Object.assign(window, { canvasTexts });
    const { fillText } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
      const size = Number(/([\d.]+)px/.exec(this.font)?.[1]) / devicePixelRatio;
      canvasTexts.set(text, Math.min(size, canvasTexts.get(text) ?? size));
      return fillText.call(this, text, ...place);
    };
  });

/**
 * The texts in sight that are smaller than a size, also those on canvases since `watchCanvasTexts`, or since the last call.
 * @param least CSS pixels
 * @returns `12px 25 sensors`
 */
export const smallTexts = (page: Page, least: number): Promise<string[]> =>
  page.evaluate((leastSize) => {
    function isSeen(text: Text) {
      const range = document.createRange();
      range.selectNodeContents(text);
      const isDrawn = [...range.getClientRects()].some(({ width, height }) => width > 1 && height > 1);
      return isDrawn && !text.parentElement?.closest('.visually-hidden, .skip, option, datalist');
    }
    const found = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node as Text;
      const size = Number.parseFloat(getComputedStyle(text.parentElement as Element).fontSize);
      if (size < leastSize && text.data.trim() !== '' && isSeen(text)) found.push(`${size}px ${text.data}`);
    }
    const canvasTexts: Map<string, number> = Reflect.get(window, 'canvasTexts') ?? new Map();
    for (const [text, size] of canvasTexts)
      if (size < leastSize) found.push(`${size}px ${text}, on a canvas`);
    canvasTexts.clear();
    return found;
  }, least);

/**
 * What is wrong with a page on paper: a control, a part that stays in place over the content, text that is not dark, or a dark area.
 * @param page with the media type print
 * @returns one line for each
 */
export const paperFaults = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    /** Text of this contrast to white is legible (WCAG 2.2, 1.4.3). */
    const MIN_CONTRAST = 4.5;
    /** A smaller area, such as the sample of a color, may be dark, in square CSS pixels. */
    const AREA = 2000;
    const canvas = Object.assign(document.createElement('canvas'), { width: 1, height: 1 });
    const context = canvas.getContext('2d', { willReadFrequently: true }) as CanvasRenderingContext2D;

    /** @param channel 0 to 255 */
    const linear = (channel: number) =>
      channel <= 10 ? channel / 3294.6 : ((channel / 255 + 0.055) / 1.055) ** 2.4;
    /** @returns relative luminance */
    const luminanceOf = ([red = 0, green = 0, blue = 0]: number[]): number =>
      0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    /** @param draw on white @returns luminance of the pixel */
    function luminanceOn(draw: (on: CanvasRenderingContext2D) => void): number {
      context.fillStyle = 'white';
      context.fillRect(0, 0, 1, 1);
      draw(context);
      return luminanceOf([...context.getImageData(0, 0, 1, 1).data]);
    }
    const onWhite = (color: string) =>
      luminanceOn((on) => {
        on.fillStyle = color;
        on.fillRect(0, 0, 1, 1);
      });
    const contrastOf = (color: string) => 1.05 / (onWhite(color) + 0.05);

    const faults = [];
    if (contrastOf(getComputedStyle(document.body).color) < 20.9) faults.push('the text is not black');
    for (const element of document.querySelectorAll('*')) {
      const { width, height } = element.getBoundingClientRect();
      if (width <= 1 || height <= 1 || element.closest('.visually-hidden')) continue;
      const style = getComputedStyle(element);
      const name = `<${element.localName} class="${element.getAttribute('class') ?? ''}">`;
      // The button in the head of a column is its title.
      if (element.matches(':is(button, input, select, textarea, [role="button"]):not(th *)'))
        faults.push(`${name} is a control`);
      if (['fixed', 'sticky'].includes(style.position)) faults.push(`${name} is ${style.position}`);
      if (width * height > AREA && onWhite(style.backgroundColor) < 0.5)
        faults.push(`${name} is a dark area`);
      const hasText = [...element.childNodes].some(
        (node) => node.nodeType === Node.TEXT_NODE && node.nodeValue?.trim(),
      );
      if (hasText && contrastOf(style.color) < MIN_CONTRAST) faults.push(`${name} has light text`);
      // The corner of a canvas has its ground.
      if (element instanceof HTMLCanvasElement && luminanceOn((on) => on.drawImage(element, 0, 0)) < 0.9)
        faults.push(`${name} is drawn on a dark ground`);
    }
    return faults;
  });
