import { signalProcess } from '../../../infra/engine/processes.js';

/** The process rests for so long, then works for so long, in ms. */
const TURN_MS = 5;

/**
 * Halves the CPU of a process, honestly: all of its threads stand still for half of the time.
 *
 * @param {number} pid
 * @returns {() => void} lets go
 */
export function halve(pid) {
  let resting = false;
  const timer = setInterval(() => {
    resting = !resting;
    signalProcess(pid, resting ? 'SIGSTOP' : 'SIGCONT');
  }, TURN_MS);
  return () => {
    clearInterval(timer);
    signalProcess(pid, 'SIGCONT');
  };
}
