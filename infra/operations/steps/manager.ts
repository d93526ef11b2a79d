import { here, type Step } from '../plan.ts';
import { command } from './shell.ts';

const LOOK_EVERY_S = 10;

export const sctool = (...words: string[]): string => command('sctool', ...words);

/** Waits for the end of the task: `sctool` itself returns as soon as a task is scheduled. */
export const managed = (
  title: string,
  {
    cluster,
    type,
    name,
    words,
  }: {
    cluster: string;
    type: 'backup' | 'repair' | 'restore';
    /** unique name, by which later commands refer to the task */
    name: string;
    words: string[];
  },
): Step[] => [
  here(title, sctool(type, '-c', cluster, ...words, '--name', name)),
  awaitDone({ cluster, type, name }),
];

export const awaitDone = ({ cluster, type, name }: { cluster: string; type: string; name: string }) =>
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
