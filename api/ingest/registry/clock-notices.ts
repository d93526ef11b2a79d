import type { Logger } from 'pino';
import { LogThrottle } from '../../../common/log-throttle.ts';
import type { Device } from './cache.ts';

/** All devices share one log line a minute, because a site without a time server has many devices with wrong clocks. */
const KEY = 'clocks';

export class ClockNotices {
  #logger;
  #throttle = new LogThrottle();

  constructor({ logger }: { logger: Logger }) {
    this.#logger = logger;
  }

  /** `device` as before the new session. `offsetMs`: its clock minus that of Millrace; 0 or undefined: no difference is known */
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
