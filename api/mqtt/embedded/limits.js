/** Limits that aedes itself has. */
export const LIMITS = {
  /** Every packet id of MQTT: of a message of QoS 2 that waits for its PUBREL, no more than the id is kept. */
  maxInflightInbound: 65_535,

  /** A connection that takes nothing of what is written to it for this long is closed, in ms. */
  drainTimeout: 5000,
};
