/**
 * Where a request comes from, as the browser says it: `Sec-Fetch-Site`, which no page can set, or where that is left out
 * (without encryption), `Origin`.
 *
 * @param {import('express').Request} req
 * @returns {'own' | 'foreign' | 'untold'} from a page of ours; of somebody else's; `untold`: from no browser
 */
export function originOf(req) {
  const { origin } = req.headers;
  const site = req.get('Sec-Fetch-Site');
  if (site !== undefined) return site === 'same-origin' ? 'own' : 'foreign';
  if (origin === undefined) return 'untold';
  return URL.canParse(origin) && new URL(origin).host === req.host ? 'own' : 'foreign';
}

const HARMLESS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** @param {import('express').Request} req */
export const changesSomething = (req) => !HARMLESS.has(req.method);
