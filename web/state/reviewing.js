import { createObservable } from './observable.js';

/** @import { StreamStatus } from '../api/stream.js' */
/** @import { FleetInfo } from '../api/types.js' */
/** @import { Review } from './fleet-types.js' */
/** @import { Fleet } from './fleet.js' */
/** @import { Observable } from './observable.js' */

/**
 * @typedef {object} Reviewed what is shown together, of one moment
 * @property {Review} review
 * @property {FleetInfo | null} info the API's own count, as old as the devices that the review calls offline
 * @property {number} now epoch ms
 */

/** So long after the connection is there, nobody is called silent: the snapshot is still coming. In ms. */
const CATCHING_UP_MS = 3000;

/**
 * What there is to say of the fleet, anew each second, with the API's count of it. From the moment that the connection is lost until all
 * is told anew, the last of it stands: half of it would be of then and half of now.
 *
 * @param {object} parts
 * @param {Fleet} parts.fleet
 * @param {Observable<StreamStatus>} parts.status
 * @param {{ get: () => number, now: () => number }} parts.clock
 */
export function createReviewing({ fleet, status, clock }) {
  const reviewed = createObservable(
    /** @type {Reviewed} */ ({ review: fleet.review(0), info: null, now: clock.get() }),
  );
  /** @type {FleetInfo | null} */
  let info = null;
  let liveSince = Number.POSITIVE_INFINITY;
  let isHeld = false;

  function noteStatus() {
    if (status.get() === 'reconnecting') isHeld = true;
    if (status.get() !== 'live') liveSince = Number.POSITIVE_INFINITY;
    else if (liveSince === Number.POSITIVE_INFINITY) liveSince = clock.now();
  }

  function look() {
    const now = clock.get();
    const isCaughtUp = now - liveSince > CATCHING_UP_MS;
    if (isCaughtUp) isHeld = false;
    if (isHeld) return;
    reviewed.set({ review: fleet.review(isCaughtUp ? now : 0), info, now });
  }

  return {
    reviewed,
    look,
    noteStatus,

    /** @param {FleetInfo} counted @param {ReadonlySet<string>} offline ids of devices */
    count(counted, offline) {
      if (status.get() === 'reconnecting') return;
      info = counted;
      fleet.setOffline(offline);
      look();
    },
  };
}
