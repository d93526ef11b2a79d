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
  } catch (error) {
    console.error(error instanceof MillraceError ? error.message : error);
    // Whatever the work has left open must not keep a process alive that has failed.
    process.exit(error instanceof MillraceError ? error.exitCode : 1);
  }
}
