import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

/**
 * The Content-Security-Policy of pages that a bundler wrote. It allows only files of this server, and inline scripts by their hashes (CSP
 * level 3, 8.1). The pages may be built again while the process runs.
 */
export class PagePolicy {
  #index;
  #listPages;
  #builtAt = 0;
  #hashes: string[] = [];

  /** `index`: path of the first page, which every build writes. */
  constructor(index: string, listPages: () => string[] = () => [index]) {
    this.#index = index;
    this.#listPages = listPages;
  }

  get isBuilt() {
    return statSync(this.#index, { throwIfNoEntry: false }) !== undefined;
  }

  /** After a new build it computes the hashes again. */
  header({
    inlineStyles = false,
    evaluation = false,
  }: {
    /** a generator wrote style attributes into the pages */
    inlineStyles?: boolean;
    /** a program on the page compiles schemas, which needs `eval` */
    evaluation?: boolean;
  } = {}): string {
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

function hashesOf(pages: string[]): string[] {
  const scripts = pages.flatMap((path) =>
    [...readFileSync(path, 'utf8').matchAll(INLINE_SCRIPT)].map(([, script = '']) => script),
  );
  return [...new Set(scripts)].map(
    (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`,
  );
}
