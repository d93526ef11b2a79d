/** `*` stands for any text. */
export type Glob = { test: (name: string) => boolean };

/**
 * A regular expression with five wildcards took 24 s to compare a name of 128 characters. The comparison uses the first
 * occurrence of each text between wildcards. A later occurrence never leaves more characters for the texts behind it.
 */
export function globOf(glob: string): Glob {
  const [first = '', ...parts] = glob.split('*');
  const last = parts.pop();
  if (last === undefined) return { test: (name) => name === glob };
  return {
    test(name) {
      const end = name.length - last.length;
      if (end < first.length || !name.startsWith(first) || !name.endsWith(last)) return false;
      let at = first.length;
      for (const part of parts) {
        const found = name.indexOf(part, at);
        if (found < 0 || found + part.length > end) return false;
        at = found + part.length;
      }
      return true;
    },
  };
}
