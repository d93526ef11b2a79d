/**
 * The inside of a process of the bench: answers what its parent asks over IPC, one call of `answers` for each question,
 * and ends with its parent.
 *
 * @param {Record<string, (argument: any) => unknown>} answers
 * @param {() => unknown} [onEnd] ends what is open; awaited
 */
export function serve(answers, onEnd = () => {}) {
  process.on('message', async (/** @type {{ id: number, call: string, argument: unknown }} */ question) => {
    const { id, call, argument } = question;
    try {
      reply({ id, result: await answers[call]?.(argument) });
    } catch (error) {
      reply({ id, error: /** @type {Error} */ (error).stack });
    }
  });
  process.on('disconnect', async () => {
    try {
      await onEnd();
    } finally {
      process.exit();
    }
  });
  // Ctrl-C reaches the whole group; the parent ends us when all is measured or given up.
  process.on('SIGINT', () => {});
  reply({ ready: true });
}

/** @param {object} message */
function reply(message) {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}
