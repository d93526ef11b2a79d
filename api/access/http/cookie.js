export const COOKIE = 'millrace_session';

/** For each a signature is made with each token, for anybody who sends it. */
const MOST = 4;

/**
 * @param {import('express').Request} req
 * @returns {string[]} the first values under our name; other services of the same host may have left some
 */
export const cookiesOf = (req) =>
  (req.headers.cookie ?? '')
    .split(';')
    .flatMap((pair) => {
      const [name = '', value = ''] = pair.trim().split('=', 2);
      return name === COOKIE ? [value] : [];
    })
    .slice(0, MOST);

/**
 * No script reads it, and no page of another site has it sent.
 *
 * @param {boolean} secure whether it travels encrypted alone
 * @returns {import('express').CookieOptions}
 */
export const cookieOptions = (secure) => ({ httpOnly: true, sameSite: 'strict', path: '/', secure });
