/**
 * Tells aedes that a connection is alive. It closes one from which nothing was read for one and a half times its
 * keepalive (MQTT 3.1.1, 3.1.2-24); while it is we who do not read, that says nothing of the device. aedes has no
 * function for it: `_keepaliveTimer` is its own, and null where there is no keepalive or no connection any more.
 *
 * @param {import('aedes').Client} client
 */
export function keepAlive(client) {
  const { _keepaliveTimer } = /** @type {{ _keepaliveTimer?: NodeJS.Timeout | null }} */ (
    /** @type {unknown} */ (client)
  );
  _keepaliveTimer?.refresh();
}
