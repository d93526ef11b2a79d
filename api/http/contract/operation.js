/**
 * What a stranger has to know of a route. The document at `/openapi.json` is made of it, requests are held to its media
 * types, and the tests hold every answer to it.
 *
 * @typedef {object} Operation
 * @property {string} id unique, in camel case
 * @property {keyof typeof TAGS} tag
 * @property {'open' | Scope} scope what a token must be good for, where tokens are set; `open`: none is asked for
 * @property {string} summary a few words
 * @property {string} [description] what the summary leaves open, in Markdown
 * @property {ZodRawShape} [query] the shape that the handler gives to `readQuery`
 * @property {Content} [body] what it takes
 * @property {Record<number, Content>} answers by status; all but problems
 * @property {Record<string, Link>} [links] where a good answer leads, beside its next page
 * @property {Code[]} problems of its own, beside those of every route
 *
 *
 * @typedef {{ to: string, parameters: Record<string, string> }} Link the operation, and where in this one's answer its
 *   parameters are, as OpenAPI writes it
 *
 * @typedef {Record<string, Body>} Content by media type
 *
 * @typedef {ZodType | { text: string, example?: string }} Body one of `SCHEMAS` (or of `PAYLOADS`) as JSON;
 *   or what a text, or bytes, are
 */

/** @import { ZodRawShape, ZodType } from 'zod' */
/** @import { ErrorCode as Code } from '../../../common/errors.js' */
/** @import { Scope } from '../../access/http/tokens.js' */

/** Groups of routes, in the order in which they are read. */
export const TAGS = {
  latest: 'The latest value of every sensor, or of some, also followed live.',
  devices: 'Devices and their sensors.',
  measurements: 'The samples of one sensor, and a way in for those who have no MQTT.',
  'dead-letters': 'What was refused, and why.',
  credentials: 'What devices sign in to the broker with, where `MQTT_AUTH` is on.',
  operation: 'How this process is.',
  access: 'Who asks, and what he may do.',
  contract: 'What you read here, for programs.',
};

/** @param {ZodType} schema @returns {Content} */
export const json = (schema) => ({ 'application/json': schema });

/** Of every listing that comes in pages. @type {Code[]} */
export const PAGED = ['bad_parameter', 'bad_cursor', 'unavailable'];
