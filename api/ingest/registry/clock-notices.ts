import type { Logger } from 'pino';
import { LogThrottle } from '../../../common/log-throttle.ts';
import type { Device } from './cache.ts';

/**
 * Key of the log throttle. All devices share one log line a minute, because a site without a time server has many
 * devices with wrong clocks.
 */
const KEY = 'clocks';

/** Logs at the start of a session that the clock of a device is wrong. */
export class ClockNotices {
  #logger;
  #throttle = new LogThrottle();

  constructor({ logger }: { logger: Logger }) {
    this.#logger = logger;
  }

  /**
   * @param device the device before the new session begins
   * @param offsetMs clock of the device minus clock of Millrace in the new session, in ms; 0 or undefined: no
   * difference is known
   */
  note(
    { id, name, clockOffset }: Pick<Device, 'id' | 'name' | 'clockOffset'>,
    offsetMs: number | undefined = 0,
  ) {
    if (offsetMs === 0 || Math.sign(offsetMs) === Math.sign(clockOffset)) return;
    const sessions = this.#throttle.count(KEY);
    if (sessions === 0) return;
    this.#logger.warn(
      { device: name ?? id, offsetMs, sessions },
      `the clock of a device is ${offsetMs < 0 ? 'behind' : 'ahead'}; set it, or connect the device to a time server`,
    );
  }
}
