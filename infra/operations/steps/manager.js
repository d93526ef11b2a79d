import { here } from '../plan.js';
import { command } from './shell.js';

/** @import { Step } from '../plan.js' */

const LOOK_EVERY_S = 10;

/** @param {...string} words @returns {string} a command of ScyllaDB Manager */
export const sctool = (...words) => command('sctool', ...words);

/**
 * Runs a task of ScyllaDB Manager to its end, because `sctool` itself returns when a task is planned.
 *
 * @param {string} title
 * @param {object} task
 * @param {string} task.cluster as Manager calls it
 * @param {'backup' | 'repair' | 'restore'} task.type
 * @param {string} task.name of its own: it stands for the task's id
 * @param {string[]} task.words further ones of its command
 * @returns {Step[]}
 */
export const managed = (title, { cluster, type, name, words }) => [
  here(title, sctool(type, '-c', cluster, ...words, '--name', name)),
  awaitDone({ cluster, type, name }),
];

/** @param {{ cluster: string, type: string, name: string }} task that is under way, or has only been planned */
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
