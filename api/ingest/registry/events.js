/**
 * What became of devices, for who asks later. An event is known by its device, its session and its kind: so processes
 * that hear of the same one write the same row, and a message that comes again changes nothing.
 *
 * @param {object} parts
 * @param {import('../../store/events.js').EventStore} parts.store
 * @param {import('../../store/retry.js').Patience} parts.patience
 */
export function createEvents({ store, patience }) {
  return {
    /**
     * @param {{ bytes: Buffer }} device
     * @param {import('../../store/events.js').DeviceEvent} event
     * @returns {Promise<unknown>} settles when it is committed
     */
    note: ({ bytes }, event) => patience.persist(() => store.write(bytes, event)),
  };
}

/** @typedef {ReturnType<typeof createEvents>} Events */
