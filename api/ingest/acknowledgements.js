/**
 * The acknowledgements that one connection is owed. They go out in the order in which the messages came (MQTT 3.1.1,
 * 4.6.0-2; MQTT 5, 4.6.0-2), however their commits overtake each other; one that is never given holds back all behind it.
 */
export function createAcknowledgements() {
  /** @type {Array<{ settled: boolean, acknowledge: () => void }>} oldest first */
  const owed = [];

  return {
    /**
     * @param {() => void} acknowledge called when this message and all before it are settled
     * @returns {() => void} to be called when this message is settled
     */
    owe(acknowledge) {
      const debt = { settled: false, acknowledge };
      owed.push(debt);
      return () => {
        debt.settled = true;
        while (owed[0]?.settled) owed.shift()?.acknowledge();
      };
    },
    /** The connection is gone, and with it what it was owed: the other side sends these messages again. */
    drop() {
      owed.length = 0;
    },
    get owed() {
      return owed.length;
    },
  };
}

/** @typedef {ReturnType<typeof createAcknowledgements>} Acknowledgements */
