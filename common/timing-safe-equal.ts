import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Compares two secrets. The duration of the comparison reveals nothing about the secrets, not even their lengths.
 *
 * @param {string | Buffer} given
 * @param {string | Buffer} secret
 */
export const sameSecret = (given, secret) => timingSafeEqual(digest(given), digest(secret));

/** @param {string | Buffer} text */
const digest = (text) => createHash('sha256').update(text).digest();
