import { here } from '../plan.js';
import { command } from './shell.js';

/** @import { Step } from '../plan.js' */

const LOOK_EVERY_S = 10;

/** @param {...string} words @returns {string} a command of ScyllaDB Manager */
export const sctool = (...words) => command('sctool', ...words);

/**
 * Returns the steps that start a task of ScyllaDB Manager and wait for its end. `sctool` itself returns as soon as a task is scheduled.
 *
 * @param {string} title
 * @param {object} task
 * @param {string} task.cluster name of the cluster in Manager
 * @param {'backup' | 'repair' | 'restore'} task.type
 * @param {string} task.name unique name, by which later commands refer to the task
 * @param {string[]} task.words additional arguments of the `sctool` command
 * @returns {Step[]}
 */
export const managed = (title, { cluster, type, name, words }) => [
  here(title, sctool(type, '-c', cluster, ...words, '--name', name)),
  awaitDone({ cluster, type, name }),
];

/** @param {{ cluster: string, type: string, name: string }} task a task that runs, or is scheduled */
export const awaitDone = ({ cluster, type, name }) =>
  here(
    `waits until ${type}/${name} is done`,
    `while :; do
  said=$(${sctool('progress', '-c', cluster, `${type}/${name}`)})
  printf '%s\\n' "$said" | sed -n -e '/^Status:/p' -e '/^Progress:/p'
  case $(printf '%s\\n' "$said" | sed -n 's/^Status:[[:space:]]*//p') in
    DONE*) break ;;
    ERROR* | ABORTED* | STOPPED*) printf '%s\\n' "$said"; exit 1 ;;
  esac
  sleep ${LOOK_EVERY_S}
done`,
  );
