import { MillraceError } from './errors.js';

/**
 * Runs what a command does. An error of ours ends the process with its message and its exit code; any other is a
 * defect, and is printed whole.
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
    // Whatever the work has left open must not keep a process alive that has failed.
    process.exit(error instanceof MillraceError ? error.exitCode : 1);
  }
}

/**
 * A request that the database does not answer ends a command as a database that never answered does: whoever restarts
 * it by its exit code tries again.
 *
 * @param {unknown} error
 */
function asStop(error) {
  if (!(error instanceof MillraceError) || error.code !== 'unavailable') return error;
  return new MillraceError('database_away', `The database went away: ${error.message}`, { cause: error });
}
