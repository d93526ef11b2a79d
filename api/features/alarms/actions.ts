import { MillraceError } from '../../../common/errors.ts';
import type { Deliveries } from './delivery/deliveries.ts';
import type { AlarmReports } from './reports.ts';
import type { Alarm, AlarmStore, EpisodeKey } from './store/episodes.ts';

/** In ms. Deliveries wait at least this long while the end of a shelving is changed. Writing the new end takes less time. */
const SHELVING_MS = 10_000;

/** Actions of people on alarms. */
export class AlarmActions {
  #deps;

  constructor(deps: {
    episodes: AlarmStore;
    deliveries: Deliveries;
    reports: AlarmReports;
    clock: () => number;
  }) {
    this.#deps = deps;
  }

  /** @throws `not_found` */
  async acknowledge(
    key: EpisodeKey,
    { by, comment }: { by: string; comment: string | null },
  ): Promise<Alarm> {
    const { episodes, reports, clock } = this.#deps;
    const before = await this.#found(key);
    const at = clock();
    const alarm = { ...before, acknowledgedAt: at, acknowledgedBy: by, comment: comment ?? before.comment };
    await reports.announce(alarm, ['acknowledged']);
    await episodes.acknowledge(key, { at, by, comment });
    await episodes.note(key, { at, kind: 'acknowledged', actor: by, comment });
    reports.report({ alarm, kinds: ['acknowledged'] });
    return alarm;
  }

  /** @throws `not_found` */
  async shelve(
    key: EpisodeKey,
    { by, until, comment }: { by: string; until: number; comment: string | null },
  ): Promise<Alarm> {
    const { episodes, deliveries, reports, clock } = this.#deps;
    const before = await this.#found(key);
    const alarm = { ...before, shelvedUntil: until };
    const soon = Math.max(until, clock() + SHELVING_MS);
    // Move the deliveries first. If the process ends before it stores the new end, the deliveries are at a time in the future,
    // and are still sent.
    await deliveries.shelve(before, soon);
    await episodes.shelve(key, until);
    // Another process may have stored deliveries at the old end meanwhile.
    await deliveries.shelve(before, until);
    if (soon > until) await deliveries.shelve({ ...before, shelvedUntil: soon }, until);
    await episodes.note(key, { at: clock(), kind: 'shelved', actor: by, comment });
    reports.publish('shelved', alarm);
    return alarm;
  }

  async #found(key: EpisodeKey) {
    const alarm = await this.#deps.episodes.find(key);
    if (!alarm) throw new MillraceError('not_found', 'There is no such alarm, or it has expired.');
    return alarm;
  }
}
