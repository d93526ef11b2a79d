import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';

const root = new URL('../../../', import.meta.url);
const files = execFileSync('git', ['ls-files', '-z', '--', '*.js', '*.ts'], {
  cwd: fileURLToPath(root),
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file && !/\.test\.[jt]s$/.test(file));

/** @returns declarations that the command cannot use yet when it runs */
function lateDeclarations(source: string): string[] {
  const [, ...rest] = source.split(/^await runCommand\(/m);
  return rest.join('').match(/^(?:const|let|class) \w+/gm) ?? [];
}

test('Commands: constants and classes of a file: none is declared after its call of runCommand', () => {
  const found = files.flatMap((file) =>
    lateDeclarations(readFileSync(new URL(file, root), 'utf8')).map(
      (declaration) => `${file}: ${declaration}`,
    ),
  );
  expect(found).toEqual([]);
});
