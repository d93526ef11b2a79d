import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether what was given is the secret: in a time that tells nothing of either, whatever their lengths.
 *
 * @param {string | Buffer} given
 * @param {string | Buffer} secret
 */
export const sameSecret = (given, secret) => timingSafeEqual(digest(given), digest(secret));

/** @param {string | Buffer} text */
const digest = (text) => createHash('sha256').update(text).digest();
