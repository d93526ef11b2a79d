import { setTimeout as sleep } from 'node:timers/promises';
import { createDeadline } from '../waits.js';
import { createLinks } from './links.js';
import { createMember } from './member.js';

/** @import { DeviceFaults } from '../faults/device-faults.js' */
/** @import { Series } from '../payloads/index.js' */
/** @import { Sender } from './links.js' */
/** @import { Member } from './member.js' */

/** Connections opened at once, and the pause before the next of them: brokers have a short queue for newcomers. */
const CONNECTS = { atOnce: 20, pauseMs: 20 };

/** How long the end waits for acknowledgements, and for each device behind a gateway to be said offline. */
const FAREWELL_MS = { all: 5000, aDevice: 1 };

/**
 * Devices that measure and publish, driven by a loop, until they are stopped.
 *
 * @param {Parameters<typeof createLinks>[0] & {
 *   encode: (series: Series[]) => string,
 *   faultsOf: (device: string) => DeviceFaults | null,
 *   createLoop: (members: Member[]) => { start: () => void, stop: () => void } }} options
 *   createLoop: what makes them measure and publish
 */
export function createFleet({ herd, encode, faultsOf, createLoop, ...options }) {
  const { links, senders } = createLinks({ herd, ...options });
  const members = herd.map((simulated, index) =>
    createMember({
      simulated,
      sender: /** @type {Sender} */ (senders[index]),
      encode,
      faults: faultsOf(simulated.name),
    }),
  );
  const loop = createLoop(members);
  let stopping = false;
  /** @type {Promise<void>} */
  let connecting = Promise.resolve();

  async function connectAll() {
    for (const [index, link] of links.entries()) {
      if (stopping) return;
      link.start();
      if ((index + 1) % CONNECTS.atOnce === 0) await sleep(CONNECTS.pauseMs);
    }
  }

  return {
    connections: links.length,

    /** Begins to connect, and to measure. */
    start() {
      connecting = connectAll();
      loop.start();
    },

    /** Connects, registers all devices, and only then begins: what is timed must not be the registering. */
    async startWhenReady() {
      connecting = connectAll();
      await connecting;
      await Promise.all(links.map((link) => link.announceAll()));
      if (!stopping) loop.start();
    },

    /** @returns {number} connections that are up */
    connected: () => links.filter(({ connected }) => connected).length,

    /** @returns {boolean} whether one of the connections was up at any time */
    everConnected: () => links.some(({ everConnected }) => everConnected),

    /** Publishes what is measured, waits for its acknowledgement, but not for long, and disconnects. */
    async stop() {
      stopping = true;
      loop.stop();
      await connecting;
      for (const member of members) member.finish();
      const behindGateways = links.length < members.length ? members.length : 0;
      const deadline = createDeadline(FAREWELL_MS.all + FAREWELL_MS.aDevice * behindGateways);
      await Promise.all(links.map((link) => link.stop(deadline.passed)));
      deadline.cancel();
    },
  };
}

/** @typedef {ReturnType<typeof createFleet>} Fleet */
