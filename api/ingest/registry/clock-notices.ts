import { LogThrottle } from '../../../common/log-throttle.js';

/** @import { Logger } from 'pino' */
/** @import { Device } from './cache.js' */

/**
 * Key of the log throttle. All devices share one log line a minute, because a site without a time server has many
 * devices with wrong clocks.
 */
const KEY = 'clocks';

/** Logs at the start of a session that the clock of a device is wrong. */
export class ClockNotices {
  #logger;
  #throttle = new LogThrottle();

  /** @param {{ logger: Logger }} deps */
  constructor({ logger }) {
    this.#logger = logger;
  }

  /**
   * @param {Pick<Device, 'id' | 'name' | 'clockOffset'>} device the device before the new session begins
   * @param {number | undefined} offsetMs clock of the device minus clock of Millrace in the new session, in ms; 0 or
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
