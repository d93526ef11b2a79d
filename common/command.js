import { MillraceError } from './errors.js';

/**
 * Runs a command. A MillraceError ends the process with its message and exit code. Any other error is a defect, and is printed with
 * its stack trace.
 *
 * @param {() => Promise<void>} work
 */
export async function runCommand(work) {
  try {
    await work();
  } catch (failure) {
    const error = asStop(failure);
    if (error instanceof MillraceError && error.exitCode === 0) console.log(error.message);
    else console.error(error instanceof MillraceError ? error.message : error);
    // Open handles must not keep a failed process alive.
    process.exit(error instanceof MillraceError ? error.exitCode : 1);
  }
}

/**
 * Gives a failed request the exit code of a failed connection, so that a supervisor restarts the command.
 *
 * @param {unknown} error
 */
function asStop(error) {
  if (!(error instanceof MillraceError) || error.code !== 'unavailable') return error;
  return new MillraceError('database_away', `The database went away: ${error.message}`, { cause: error });
}
