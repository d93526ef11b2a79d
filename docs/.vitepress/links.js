import { dirname, join, relative } from 'node:path';

/** @import MarkdownIt from 'markdown-it' */

/** `https:`, `mailto:`, `//host`, `/page`. */
const NOT_RELATIVE = /^(?:[a-z][a-z0-9+.-]*:|\/)/i;

/** The page that includes a document of the root. */
const INCLUDED = { page: 'contributing.md', document: 'CONTRIBUTING.md' };

/**
 * Pages link to source files by relative paths, which work in a checkout and in a code browser. The site holds pages only. There such a
 * link leads to the repository. Where the repository's address is unknown, the link's text remains. CONTRIBUTING is a page of the site.
 *
 * @param {MarkdownIt} md
 * @param {{ docsDir: string, rewrites: Record<string, string>, repositoryUrl: string | null }} options
 */
export function linkToRepository(md, { docsDir, rewrites, repositoryUrl }) {
  const root = join(docsDir, '..');
  md.core.ruler.push('link-to-repository', ({ tokens, env }) => {
    const page = env.realPath ?? env.path;
    const isIncluded = page === join(docsDir, INCLUDED.page);
    for (const { children } of tokens) {
      if (!children) continue;
      for (const [index, token] of children.entries()) {
        if (token.type !== 'link_open') continue;
        const href = token.attrGet('href') ?? '';
        if (NOT_RELATIVE.test(href)) continue;
        const [file = '', anchor] = href.split('#');
        // VitePress begins no id with a digit.
        const hash = anchor ? `#${anchor.replace(/^\d/, '_$&')}` : '';
        if (file === '') {
          token.attrSet('href', hash);
          continue;
        }
        const named = join(isIncluded ? root : dirname(page), decodeURI(file));
        const path = named === join(root, INCLUDED.document) ? join(docsDir, INCLUDED.page) : named;
        if (isInside(docsDir, path)) {
          const name = relative(docsDir, path);
          const target = join(docsDir, rewrites[name] ?? name);
          token.attrSet('href', `./${relative(dirname(page), target)}${hash}`);
          continue;
        }
        if (repositoryUrl) {
          token.attrSet('href', `${repositoryUrl}/${relative(root, path)}`);
          continue;
        }
        token.tag = 'span';
        token.attrs = [];
        const close = children
          .slice(index)
          .find(({ type, level }) => type === 'link_close' && level === token.level);
        if (close) close.tag = 'span';
        token.type = 'span_open';
      }
    }
  });
}

/** @param {string} dir @param {string} path */
const isInside = (dir, path) => !relative(dir, path).startsWith('..');

/** Languages of our test vectors. The highlighter does not know them. */
const PLAIN = new Set(['vector', 'block']);

/**
 * Vue compiles the pages as templates. This keeps inline code as it is, also with braces.
 *
 * @param {MarkdownIt} md
 */
export function keepCode(md) {
  md.core.ruler.push('keep-code', ({ tokens }) => {
    for (const token of tokens) {
      if (token.type === 'fence' && PLAIN.has(token.info)) token.info = 'txt';
      for (const child of token.children ?? []) if (child.type === 'code_inline') child.attrSet('v-pre', '');
    }
  });
}
