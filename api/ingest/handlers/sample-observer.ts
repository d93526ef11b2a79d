import type { Logger } from 'pino';
import { MillraceError } from '../../../common/errors.ts';
import { LogThrottle } from '../../../common/log-throttle.ts';
import type { Device } from '../registry/cache.ts';
import type { Series } from '../sample-writer.ts';

/** Sees the samples of each message before and after their commit. */
export interface SampleObserver {
  /**
   * Notes the samples that it must see again after a crash, concurrently with the commit. undefined: there is nothing to
   * note. `seenAt`: epoch ms at which the device was seen; null: all samples are noted.
   */
  note: (device: Device, series: Series[], seenAt: number | null) => Promise<void> | undefined;
  /** called after the commit; must return at once */
  observe: (device: Device, series: Series[]) => void;
}

/** A defect of the observer must not refuse a message. While the database is away, the message must wait for the note. */
export function guardObserver(observer: SampleObserver, logger: Logger): SampleObserver {
  const throttle = new LogThrottle();
  const report = (error: unknown) => {
    const count = throttle.count('');
    if (count > 0) logger.error({ err: error, count }, 'the observer of samples failed');
  };
  const reportDefect = (error: unknown): undefined => {
    if (error instanceof MillraceError) throw error;
    report(error);
  };
  return {
    note(...samples) {
      try {
        return observer.note(...samples)?.catch(reportDefect);
      } catch (error) {
        return reportDefect(error);
      }
    },
    observe(...samples) {
      try {
        observer.observe(...samples);
      } catch (error) {
        report(error);
      }
    },
  };
}
