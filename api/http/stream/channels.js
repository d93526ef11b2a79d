import { createChannel } from './channel.js';

/** @import { Channel, ChannelParts } from './channel.js' */
/** @import { Subscription } from './subscription.js' */

/** Channels that nobody reads, kept for those who come back. */
const MOST_RESTING = 100;

/**
 * The channels of a process, by what they follow. One that its last reader has left is kept for a while: a reader who
 * comes back goes on where it was.
 *
 * @param {ChannelParts} parts
 * @param {number} restMs
 */
export function createChannels(parts, restMs) {
  /** @typedef {{ channel: Channel, held: number, rest: NodeJS.Timeout | undefined }} Place */
  /** @type {Map<string, Place>} */
  const places = new Map();
  /** @type {Map<string, Place>} the longest resting first */
  const resting = new Map();

  /** @param {string} key @param {Place} place */
  function end(key, place) {
    clearTimeout(place.rest);
    place.channel.end();
    resting.delete(key);
    if (places.get(key) === place) places.delete(key);
  }

  /** @param {string} key @param {Place} place */
  function release(key, place) {
    if (--place.held > 0 || places.get(key) !== place) return;
    resting.set(key, place);
    place.rest = setTimeout(end, restMs, key, place);
    const [oldest] = resting;
    if (resting.size > MOST_RESTING && oldest) end(...oldest);
  }

  /** @param {string} key @param {Subscription} subscription */
  function open(key, subscription) {
    /** @type {Place} */
    const place = { channel: createChannel(subscription, parts), held: 0, rest: undefined };
    places.set(key, place);
    // Who comes next tries anew.
    place.channel.loading.catch(() => end(key, place));
    return place;
  }

  return {
    /**
     * @param {Subscription} subscription
     * @returns {{ channel: Channel, release: () => void }} to be released once
     */
    hold(subscription) {
      const key = keyOf(subscription);
      const place = places.get(key) ?? open(key, subscription);
      place.held++;
      clearTimeout(place.rest);
      resting.delete(key);
      return { channel: place.channel, release: () => release(key, place) };
    },

    stop() {
      for (const [key, place] of places) end(key, place);
    },
  };
}

/** @param {Subscription} subscription @returns {string} the same for all that follow the same */
const keyOf = ({ devices, sensors }) =>
  [...[...devices.keys()].sort(), ...[...sensors.keys()].sort()].join(' ');
