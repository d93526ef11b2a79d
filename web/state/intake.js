/** Script time of one frame that taking in may use, in ms; what is left waits for the next frame. */
const BUDGET_MS = 2;
/** Texts that may wait; who is further behind takes in all at once. */
const MOST_WAITING = 200;

/**
 * Takes texts in as frames allow: a snapshot of ten thousand sensors comes in ten events at once, and must not hold up the page. Where no
 * frames are drawn, in a tab behind others, each is taken in as it comes.
 *
 * @param {object} parts
 * @param {(text: string, arrivedAt: number) => void} parts.take `arrivedAt` by `clock`
 * @param {(run: () => void) => void} parts.requestFrame
 * @param {() => boolean} parts.isHidden
 * @param {() => number} [parts.clock] ms
 */
export function createIntake({ take, requestFrame, isHidden, clock = () => performance.now() }) {
  /** @type {{ text: string, at: number }[]} */
  let waiting = [];
  let requested = false;
  /** Taken in since the last frame: the first text of a frame need not wait. */
  let spent = false;

  function takeSome() {
    requested = false;
    spent = false;
    const began = clock();
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      take(next.text, next.at);
      if (clock() - began >= BUDGET_MS) break;
    }
    if (waiting.length > 0) request();
  }

  function request() {
    if (requested) return;
    requested = true;
    requestFrame(takeSome);
  }

  function takeAll() {
    const all = waiting;
    waiting = [];
    for (const { text, at } of all) take(text, at);
  }

  return {
    /** @param {string} text */
    push(text) {
      waiting.push({ text, at: clock() });
      if (isHidden() || waiting.length > MOST_WAITING) return takeAll();
      if (!spent && waiting.length === 1) {
        takeAll();
        spent = true;
      }
      request();
    },
  };
}
