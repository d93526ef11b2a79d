/** Limits that aedes itself has. */
export const LIMITS = {
  /**
   * Packets that may wait before a CONNECT is answered; one more closes the connection, and a device that sends without
   * waiting would do the same again. What was read by then, a chunk or two of 64 KiB, holds fewer.
   */
  queueLimit: 65_536,

  /** Every packet id of MQTT: of a message of QoS 2 that waits for its PUBREL, no more than the id is kept. */
  maxInflightInbound: 65_535,

  /** A connection that takes nothing of what is written to it for this long is closed, in ms. */
  drainTimeout: 5000,
};
