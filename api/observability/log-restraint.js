/** Lines of one text within this time, in ms; those beyond are counted. */
const WITHIN_MS = 10_000;
const MOST_LINES = 10;

/** Texts that are told apart; beyond them all others count as one. */
const MOST_TEXTS = 500;
const OTHERS = 'other lines';

/**
 * How pino hands on what is to be logged.
 *
 * @callback LogMethod
 * @param {any[]} args
 * @param {(...args: any[]) => void} method
 * @returns {void}
 */

/**
 * Keeps one thing that goes wrong with each message, device or request from filling the log: of each text some lines
 * are written, and at the end of the time the last of those that were not, with how many there were (`unsaid`). What
 * is for developers, `debug` and `trace`, is written as it comes; and so is what an administrator did (`audit`): nobody hides
 * one act behind many.
 *
 * @param {{ withinMs?: number, mostLines?: number }} [bounds]
 */
export function createRestraint({ withinMs = WITHIN_MS, mostLines = MOST_LINES } = {}) {
  /** @type {Map<string, { lines: number, unsaid: number, last: () => void }>} */
  const texts = new Map();

  /** @param {string} text */
  function begin(text) {
    const one = { lines: 0, unsaid: 0, last: () => {} };
    texts.set(text, one);
    setTimeout(() => {
      texts.delete(text);
      if (one.unsaid > 0) one.last();
    }, withinMs).unref();
    return one;
  }

  /** @type {(this: import('pino').Logger, args: any[], method: (...args: any[]) => void, level: number) => void} */
  return function logMethod(args, method, level) {
    if (level < 30 || isAudit(args)) return method.apply(this, args);
    const text = textOf(args);
    const key = texts.has(text) || texts.size < MOST_TEXTS ? text : OTHERS;
    const one = texts.get(key) ?? begin(key);
    if (one.lines < mostLines) {
      one.lines++;
      return method.apply(this, args);
    }
    one.unsaid++;
    one.last = () => {
      const [first, ...rest] = args;
      const { unsaid } = one;
      if (typeof first === 'object') method.call(this, { ...first, unsaid }, ...rest);
      else method.call(this, { unsaid }, ...args);
    };
  };
}

/** @param {any[]} args of pino */
const isAudit = ([first]) => first?.audit === true;

/** @param {any[]} args of pino: details and text, or text alone @returns {string} */
const textOf = ([first, second]) => (typeof first === 'string' ? first : String(second ?? ''));
