import { createHash, timingSafeEqual } from 'node:crypto';

/** The duration of the comparison reveals nothing about the secrets, not even their lengths. */
export const sameSecret = (given: string | Buffer, secret: string | Buffer) =>
  timingSafeEqual(digest(given), digest(secret));

const digest = (text: string | Buffer) => createHash('sha256').update(text).digest();
