import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function importsOf(folders: string[]): { file: string; specifier: string }[] {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => /\.(?:js|tsx?)$/.test(file))
    .flatMap((file) => specifiersIn(readFileSync(file, 'utf8')).map((specifier) => ({ file, specifier })));
}

function specifiersIn(source: string): string[] {
  const code = source
    .split('\n')
    .filter((line) => !/^\s*(\*|\/\/|\/\*|import type )/.test(line))
    .map((line) => line.replaceAll(/\/\*\*.*?\*\//g, ''));
  return code.flatMap((line) => {
    const found = /^(?:import|export|\}).*\bfrom '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/.exec(
      line,
    );
    return found ? [found[1] ?? found[2] ?? found[3] ?? ''] : [];
  });
}

export const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
