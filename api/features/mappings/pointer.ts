/** An object or an array at this level is visited as one value. */
export const MAX_DEPTH = 8;

/** RFC 6901; the tokens are unescaped */
export type Pointer = string[];

const POINTER = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** An empty text is a pointer to the whole payload. */
export const isPointer = (text: string): boolean => POINTER.test(text);

export const parsePointer = (text: string): Pointer =>
  text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));

export const pointerText = (tokens: string[]): string =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** Returns undefined if there is no such value. Inherited members, such as those of `Object.prototype`, are no values. */
export function find(content: unknown, pointer: Pointer): unknown {
  let value = content;
  for (const token of pointer) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, token)) return undefined;
    // `length` is an own property of an array, but no value of the payload.
    if (Array.isArray(value) && !/^\d+$/.test(token)) return undefined;
    value = (value as Record<string, unknown>)[token];
  }
  return value;
}

/** Formats the path for refusals and the dashboard: `rxInfo[0].rssi`. */
export const pathOf = (tokens: Array<string | number>): string =>
  tokens.reduce(
    (path: string, token) =>
      typeof token === 'number' || /^\d+$/.test(token)
        ? `${path}[${token}]`
        : path === ''
          ? String(token)
          : `${path}.${token}`,
    '',
  );

/**
 * Down to `MAX_DEPTH`. `visit` also receives an array that is empty or left out, and an object or array at the limit.
 * The elements of an array that `isLeftOut` are not visited.
 */
export function visitValues(
  content: unknown,
  visit: (tokens: string[], value: unknown) => void,
  isLeftOut: (tokens: string[], array: unknown[]) => boolean = () => false,
) {
  const walk = (value: unknown, tokens: string[]) => {
    const isNested = value !== null && typeof value === 'object' && tokens.length < MAX_DEPTH;
    if (!isNested || (Array.isArray(value) && (value.length === 0 || isLeftOut(tokens, value)))) {
      visit(tokens, value);
      return;
    }
    for (const [token, member] of Object.entries(value)) walk(member, [...tokens, token]);
  };
  walk(content, []);
}
