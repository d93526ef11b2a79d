import { execFile } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { KUBERNETES } from '../support/kubernetes/build.js';

// Taking an ingest process away from a cluster that a stand-in of kubectl remembers in files. What is at stake is a session at the
// broker which nobody takes from: whatever fails on the way, the next run has to end that one, and not begin with another.

const run = promisify(execFile);

/** Notes what it is asked; has a number of processes, a mark and a job; fails at the verb in the file `failing`. */
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

/** @type {string} */
let cluster;
beforeEach(() => {
  cluster = mkdtempSync(join(tmpdir(), 'millrace-scale-in-'));
  writeFileSync(join(cluster, 'kubectl'), KUBECTL);
  chmodSync(join(cluster, 'kubectl'), 0o755);
  // A job of an earlier time, which says nothing of this one.
  is({ replicas: '3', mark: '', job: 'Complete', outcome: 'Complete', failing: '', notes: '' });
});
afterEach(() => rmSync(cluster, { recursive: true, force: true }));

/** @param {Record<string, string>} state */
function is(state) {
  for (const [name, text] of Object.entries(state)) writeFileSync(join(cluster, name), text);
}
/** @param {string} name */
const the = (name) => readFileSync(join(cluster, name), 'utf8').trim();

/** @param {string[]} args */
async function scaleIn(...args) {
  is({ notes: '' });
  const { stdout: kubectl } = await run('/bin/sh', ['-c', 'command -v kubectl']);
  const env = { PATH: `${cluster}:${process.env['PATH']}`, CLUSTER: cluster, KUBECTL: kubectl.trim() };
  const script = run('/bin/sh', [`${KUBERNETES}/scale-in.sh`, ...args], { env });
  const outcome = await script.then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
  const notes = the('notes');
  return {
    ...outcome,
    notes,
    asked: [...notes.matchAll(/^--namespace millrace (\w+)/gm)].map(([, verb]) => verb),
    drained: notes.match(/(?<=name: MQTT_CLIENT_ID\n\s+value: ).*/)?.[0] ?? null,
  };
}

test('ends the last pod, then drains the session of that very one', async () => {
  const { code, notes, asked, drained } = await scaleIn();
  expect([code, drained]).toEqual([0, 'millrace-ingest-2']);
  expect(asked.join(' ')).toBe('get get delete annotate scale wait apply get annotate');
  expect(notes).toContain('--current-replicas=3 --replicas=2');
  expect(notes).toContain('wait --for=delete pod/millrace-ingest-2');
  expect(notes).not.toContain('ORDINAL');
  expect([the('replicas'), the('mark')]).toEqual(['2', '']);
});

test('--dry-run prints those commands, and changes nothing', async () => {
  const { stdout, stderr, asked } = await scaleIn('--dry-run');
  expect(asked).toEqual(['get', 'get']);
  expect(stdout.match(/^\+ kubectl .*$/gm)).toHaveLength(6);
  expect(stderr).toBe('');
});

test('takes none below the least', async () => {
  is({ replicas: '2' });
  const { code, asked } = await scaleIn();
  expect([code, asked]).toEqual([1, ['get', 'get']]);
});

test.each(['wait', 'apply'])(
  'where %s fails, the next run finishes that process, and takes no other',
  async (verb) => {
    is({ replicas: '4', failing: verb });
    const first = await scaleIn();
    expect([first.code, the('replicas')]).toEqual([1, '3']);
    expect(first.stderr).toContain('run this again: it finishes millrace-ingest-3');
    is({ failing: '' });
    const second = await scaleIn();
    expect([second.code, second.drained, the('replicas')]).toEqual([0, 'millrace-ingest-3', '3']);
    expect(second.asked).not.toContain('scale');
    const third = await scaleIn();
    expect([third.code, third.drained, the('replicas')]).toEqual([0, 'millrace-ingest-2', '2']);
  },
);

test('where the job fails it says so, and the next run makes it anew', async () => {
  is({ outcome: 'Failed' });
  const failed = await scaleIn();
  expect([failed.code, the('mark')]).toEqual([1, '2']);
  expect(failed.stderr).toContain('the session of millrace-ingest-2 is not ended');
  is({ outcome: 'Complete' });
  expect(await scaleIn()).toMatchObject({ code: 0, drained: 'millrace-ingest-2' });
  expect([the('replicas'), the('mark')]).toEqual(['2', '']);
});

test('where the job ended behind the back of a run that waited no longer, the next run only says so', async () => {
  is({ replicas: '2', mark: '2', job: 'Complete' });
  const { code, asked } = await scaleIn();
  expect([code, the('mark')]).toEqual([0, '']);
  expect(asked).not.toContain('delete');
});

test('where the number could not be changed, nothing was taken away, and a run begins anew', async () => {
  is({ failing: 'scale' });
  expect(await scaleIn()).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('nothing was taken away'),
  });
  is({ failing: '' });
  expect(await scaleIn()).toMatchObject({ code: 0, drained: 'millrace-ingest-2' });
});

test('a process that was brought back is not in the way of the last one', async () => {
  is({ replicas: '5', mark: '2' });
  expect(await scaleIn()).toMatchObject({ code: 0, drained: 'millrace-ingest-4' });
});

test('seconds in another form are refused before anything is asked', async () => {
  expect(await scaleIn('--within', '15m')).toMatchObject({
    code: 2,
    asked: [],
    stderr: expect.stringContaining('15m'),
  });
});
