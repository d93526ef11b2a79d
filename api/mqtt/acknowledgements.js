/**
 * The pending acknowledgements of one connection. They leave in the order in which the messages arrived (MQTT 3.1.1, 4.6.0-2;
 * MQTT 5, 4.6.0-2), even if a later message is committed first. A message that is never settled holds back all later ones.
 */
export class Acknowledgements {
  /** The oldest first. @type {Array<{ isSettled: boolean, acknowledge: () => void }>} */
  #pending = [];

  /**
   * Adds a message that arrived.
   *
   * @param {() => void} acknowledge called when this message and all earlier ones are settled
   * @returns {() => void} the caller calls it when this message is settled
   */
  track(acknowledge) {
    const message = { isSettled: false, acknowledge };
    this.#pending.push(message);
    return () => {
      message.isSettled = true;
      while (this.#pending[0]?.isSettled) this.#pending.shift()?.acknowledge();
    };
  }

  /** Forgets all pending acknowledgements, because the connection closed. The sender sends these messages again. */
  drop() {
    this.#pending.length = 0;
  }

  /** Number of messages whose acknowledgement is pending. */
  get pending() {
    return this.#pending.length;
  }
}
