import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { KUBERNETES } from '../../support/kubernetes/build.ts';

// scale-in.sh removes an ingest process. A stand-in for kubectl keeps the state of the cluster in files. No session may stay at the
// broker without a subscriber: after any failure, the next run must finish the same process, and not begin with another.

const run = promisify(execFile);

/** A stand-in that records its calls. Its state is a number of processes, a mark and a job. The verb in the file `failing` fails. */
const KUBECTL = `#!/bin/sh
case "$*" in
  kustomize*) exec "$KUBECTL" "$@" ;;
esac
cd "$CLUSTER"
echo "$*" >>notes
shift 2
[ "$1" != "$(cat failing)" ] || exit 1
case "$*" in
  "get statefulset/"*) echo "$(cat replicas) $(cat mark)" ;;
  "get horizontalpodautoscaler/"*) echo 2 ;;
  "get job/"*) cat job ;;
  "annotate "*-) : >mark ;;
  "annotate "*) echo "\${*##*=}" >mark ;;
  "scale "*) echo "\${*##*=}" >replicas ;;
  "delete job/"*) : >job ;;
  "apply "*) cat >>notes; [ -s job ] || cat outcome >job ;;
esac
`;

let cluster: string;
beforeEach(() => {
  cluster = mkdtempSync(join(tmpdir(), 'millrace-scale-in-'));
  writeFileSync(join(cluster, 'kubectl'), KUBECTL);
  chmodSync(join(cluster, 'kubectl'), 0o755);
  // The completed job of an earlier run, which must not count for this one.
  writeState({ replicas: '3', mark: '', job: 'Complete', outcome: 'Complete', failing: '', notes: '' });
});
afterEach(() => rmSync(cluster, { recursive: true, force: true }));

function writeState(state: Record<string, string>) {
  for (const [name, text] of Object.entries(state)) writeFileSync(join(cluster, name), text);
}
const readState = (name: string) => readFileSync(join(cluster, name), 'utf8').trim();

async function scaleIn(...args: string[]) {
  writeState({ notes: '' });
  const { stdout: kubectl } = await run('/bin/sh', ['-c', 'command -v kubectl']);
  const env = { PATH: `${cluster}:${process.env['PATH']}`, CLUSTER: cluster, KUBECTL: kubectl.trim() };
  const script = run('/bin/sh', [`${KUBERNETES}/scale-in.sh`, ...args], { env });
  const outcome = await script.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
  const notes = readState('notes');
  return {
    ...outcome,
    notes,
    verbs: [...notes.matchAll(/^--namespace millrace (\w+)/gm)].map(([, verb]) => verb),
    drained: notes.match(/(?<=name: MQTT_CLIENT_ID\n\s+value: ).*/)?.[0] ?? null,
  };
}

test('scale-in.sh: no flags: removes the last pod, then drains the MQTT session of that pod', async () => {
  const { code, notes, verbs, drained } = await scaleIn();
  expect([code, drained]).toEqual([0, 'millrace-ingest-2']);
  expect(verbs.join(' ')).toBe('get get delete annotate scale wait apply get annotate');
  expect(notes).toContain('--current-replicas=3 --replicas=2');
  expect(notes).toContain('wait --for=delete pod/millrace-ingest-2');
  expect(notes).not.toContain('ORDINAL');
  expect([readState('replicas'), readState('mark')]).toEqual(['2', '']);
});

test('scale-in.sh: --dry-run: prints the kubectl commands, and changes no resource', async () => {
  const { stdout, stderr, verbs } = await scaleIn('--dry-run');
  expect(verbs).toEqual(['get', 'get']);
  expect(stdout.match(/^\+ kubectl .*$/gm)).toHaveLength(6);
  expect(stderr).toBe('');
});

test('scale-in.sh: the minimum number of ingest processes runs: an error, and no process is removed', async () => {
  writeState({ replicas: '2' });
  const { code, verbs } = await scaleIn();
  expect([code, verbs]).toEqual([1, ['get', 'get']]);
});

test.each(['wait', 'apply'])(
  'scale-in.sh: kubectl %s fails: the next run completes the removal of the same process, and removes no other',
  async (verb) => {
    writeState({ replicas: '4', failing: verb });
    const first = await scaleIn();
    expect([first.code, readState('replicas')]).toEqual([1, '3']);
    expect(first.stderr).toContain('run this again: it finishes millrace-ingest-3');
    writeState({ failing: '' });
    const second = await scaleIn();
    expect([second.code, second.drained, readState('replicas')]).toEqual([0, 'millrace-ingest-3', '3']);
    expect(second.verbs).not.toContain('scale');
    const third = await scaleIn();
    expect([third.code, third.drained, readState('replicas')]).toEqual([0, 'millrace-ingest-2', '2']);
  },
);

test('scale-in.sh: the drain job fails: an error; the next run creates the drain job again', async () => {
  writeState({ outcome: 'Failed' });
  const failed = await scaleIn();
  expect([failed.code, readState('mark')]).toEqual([1, '2']);
  expect(failed.stderr).toContain('the session of millrace-ingest-2 is not ended');
  writeState({ outcome: 'Complete' });
  expect(await scaleIn()).toMatchObject({ code: 0, drained: 'millrace-ingest-2' });
  expect([readState('replicas'), readState('mark')]).toEqual(['2', '']);
});

test('scale-in.sh: the drain job completes after the script has stopped waiting: the next run succeeds, and keeps the job', async () => {
  writeState({ replicas: '2', mark: '2', job: 'Complete' });
  const { code, verbs } = await scaleIn();
  expect([code, readState('mark')]).toEqual([0, '']);
  expect(verbs).not.toContain('delete');
});
