import { expect, test } from '@jest/globals';
import { TextPattern } from '../../../../api/features/mappings/pattern.ts';
import { globOf } from '../../../../common/globs.ts';

function textsOf(alphabet: string, longest: number): string[] {
  const texts = [''];
  for (const text of texts) if (text.length < longest) for (const char of alphabet) texts.push(text + char);
  return texts;
}

test('Wildcard pattern with *: all patterns and names of up to 5 characters: equal to a regular expression', () => {
  const names = textsOf('ab', 5);
  for (const glob of textsOf('ab*', 5)) {
    const expression = new RegExp(`^${glob.replaceAll('*', '.*')}$`);
    const { test } = globOf(glob);
    const differing = names.filter((name) => test(name) !== expression.test(name));
    expect({ glob, differing }).toEqual({ glob, differing: [] });
  }
});

test('Text pattern: all patterns of up to 4 parts and texts of up to 5 characters: equal to a regular expression', () => {
  const texts = textsOf('a. ', 5);
  for (const parts of textsOf('n*. a', 4)) {
    const pattern = new TextPattern(parts.replaceAll(/n/g, (_, at) => `{n${at}}`));
    const source = { n: '([\\w.:-]+)', '*': '.*', '.': '\\.', ' ': '\\s*', a: 'a' };
    const expression = new RegExp(`^${Array.from(parts, (part) => source[part as 'n']).join('')}$`);
    const differing = texts.filter((text) => {
      const found = pattern.match(text);
      return (
        JSON.stringify(found && Object.values(found)) !==
        JSON.stringify(expression.exec(text)?.slice(1) ?? null)
      );
    });
    expect({ parts, differing }).toEqual({ parts, differing: [] });
  }
});
