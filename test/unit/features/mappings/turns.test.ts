import { expect, test } from '@jest/globals';
import { TextPattern } from '../../../../api/features/mappings/pattern.ts';
import { longestTurn, MAX_TURN_MS } from '../../../support/event-loop.ts';

test.each([
  ['* * * x', ' '],
  ['{a} * {b} * x', ' a'],
  ['{a}{b}{c}!', 'a'],
  ['{a}.{b}.{c}!', 'a.'],
  ['{{ * value_json.{sensor} * }}', '{{ value_json.a'],
])(
  'Text pattern %j: a text of 256 characters of %j: no turn of the event loop over 100 ms',
  async (pattern, text) => {
    const parts = new TextPattern(pattern);
    expect(await longestTurn(() => parts.match(text.repeat(256 / text.length)))).toBeLessThan(MAX_TURN_MS);
  },
);
