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
    if (error instanceof MillraceError) {
      console.error(error.message);
      process.exitCode = error.exitCode;
    } else {
      console.error(error);
      process.exitCode = 1;
    }
  }
}
