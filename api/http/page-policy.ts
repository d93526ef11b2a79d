import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/**
 * The Content-Security-Policy of pages that a bundler wrote. It allows only files of this server and the inline scripts of these
 * pages. Each inline script is allowed by its hash (CSP level 3, 8.1). The pages may be built again while the process runs.
 */
export class PagePolicy {
  #index;
  #listPages;
  #builtAt = 0;
  /** @type {string[]} */
  #hashes = [];

  /**
   * @param {string} index path of the first page, which every build writes
   * @param {() => string[]} [listPages] returns the paths of all pages
   */
  constructor(index, listPages = () => [index]) {
    this.#index = index;
    this.#listPages = listPages;
  }

  /** Whether the pages are built. */
  get isBuilt() {
    return statSync(this.#index, { throwIfNoEntry: false }) !== undefined;
  }

  /**
   * Returns the value of the header for a page. After a new build it computes the hashes again.
   *
   * @param {object} [exceptions]
   * @param {boolean} [exceptions.inlineStyles] whether the pages have style attributes, which a generator wrote
   * @param {boolean} [exceptions.evaluation] whether a program on the page compiles schemas
   * @returns {string} value of the header
   */
  header({ inlineStyles = false, evaluation = false } = {}) {
    const builtAt = statSync(this.#index, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (builtAt !== this.#builtAt) {
      this.#hashes = builtAt > 0 ? hashesOf(this.#listPages()) : [];
      this.#builtAt = builtAt;
    }
    return [
      "default-src 'none'",
      `script-src ${["'self'", ...(evaluation ? ["'unsafe-eval'"] : []), ...this.#hashes].join(' ')}`,
      `style-src 'self'${inlineStyles ? " 'unsafe-inline'" : ''}`,
      "img-src 'self' data:",
      "connect-src 'self'",
      "worker-src 'self'",
      `font-src 'self'${inlineStyles ? ' data:' : ''}`,
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; ');
  }
}

const INLINE_SCRIPT = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** @param {string[]} pages paths @returns {string[]} hashes of the inline scripts of the pages, each hash once */
function hashesOf(pages) {
  const scripts = pages.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(INLINE_SCRIPT)].map(([, script = '']) => script),
  );
  return [...new Set(scripts)].map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}
