import { LogThrottle } from '../../../common/log-throttle.js';

/** @import { Logger } from 'pino' */
/** @import { Device } from './cache.js' */

/**
 * All devices share one line a minute, because a site without a time server has many devices whose clocks are
 * off.
 */
const KEY = 'clocks';

/** Logs devices whose clocks are off when a session begins. */
export class ClockNotices {
  #logger;
  #throttle = new LogThrottle();

  /** @param {{ logger: Logger }} deps */
  constructor({ logger }) {
    this.#logger = logger;
  }

  /**
   * @param {Pick<Device, 'id' | 'name' | 'clockOffset'>} device before its session begins
   * @param {number | undefined} offsetMs the clock of the device minus that of Millrace, in ms; 0 or
   *   undefined: no difference is known
   */
  note({ id, name, clockOffset }, offsetMs = 0) {
    if (offsetMs === 0 || Math.sign(offsetMs) === Math.sign(clockOffset)) return;
    const sessions = this.#throttle.count(KEY);
    if (sessions === 0) return;
    this.#logger.warn(
      { device: name ?? id, offsetMs, sessions },
      `the clock of a device is ${offsetMs < 0 ? 'behind' : 'ahead'}; set it, or connect the device to a time server`,
    );
  }
}
