import { MillraceError } from './errors.ts';

/** A MillraceError ends the process with its message and exit code. Any other error is a defect, and is printed with its stack trace. */
export async function runCommand(work: () => Promise<void>) {
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
 * The error of aborted work becomes the reason of the abort. `unavailable`, the error of a failed database request, becomes
 * `database_away`, the error of a failed connection. Its exit code makes a supervisor restart the command.
 */
function asStop(failure: unknown) {
  const error =
    failure instanceof Error && failure.name === 'AbortError' ? (failure.cause ?? failure) : failure;
  if (!(error instanceof MillraceError) || error.code !== 'unavailable') return error;
  return new MillraceError('database_away', `The database went away: ${error.message}`, { cause: error });
}
