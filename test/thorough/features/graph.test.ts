import { expect, jest, test } from '@jest/globals';
import { TRAVERSALS } from '../../../api/features/graph/traversals.ts';
import { checkMirror } from '../../support/features/graph/mirror-case.ts';

test('Graph: 30 random edits, the mirror is killed once: all ten queries answer as the tables do', async () => {
  const { killed, last, status, byPath, version, differences, rows } = await checkMirror({
    edits: 30,
    kills: 1,
    seed: jest.getSeed(),
  });
  expect(killed).toEqual(['halfway']);
  expect(last).toMatchObject({
    code: 0,
    output: expect.stringContaining(`Mirrored until edit ${version}`),
  });
  expect(status.output).toContain(`0 behind: ${version} of ${version}`);
  expect(status.output).toMatch(/^Vertices: sensor +528$/m);
  expect(differences).toEqual([]);
  expect(Object.keys(rows)).toEqual(Object.keys(TRAVERSALS));
  expect(rows).toMatchObject({ alarmed: 3 });
  expect(Object.entries(rows).filter(([, count]) => count === 0)).toEqual([]);
  expect(byPath.code).toBe(0);
  expect(byPath.output.match(/"name":"[abc]"/g)?.sort()).toEqual(['"name":"a"', '"name":"b"', '"name":"c"']);
}, 600_000);
