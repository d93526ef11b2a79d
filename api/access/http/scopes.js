/**
 * What a token can be good for:
 *
 * - `read`: everything that was measured, refused and told; nothing changes by it
 * - `ingest`: measurements may be sent
 * - `admin`: devices, their credentials and what was refused are disposed of; with it goes all else
 */
export const SCOPES = /** @type {const} */ (['read', 'ingest', 'admin']);

/** @typedef {(typeof SCOPES)[number]} Scope */
