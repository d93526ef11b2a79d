import type { SentEpisode } from '../faults/episodes.ts';
import { numberText } from '../numbers.ts';
import type { Series } from '../payloads/index.ts';

/**
 * The ledger lists sent and acknowledged messages in their order, one JSON object per line.
 *
 *     {"ledger":1,"begun":"2026-11-21T11:04:05.056Z"}                     a run begins; its messages count from 1
 *     {"sent":1,"device":"collar-0001","series":[
 *       {"sensor":"pulse","times":[1795259045056],"values":[62]}]}        (one line) about to be published
 *     {"acknowledged":1}                                                  the PUBACK of message 1 arrived
 *     {"episode":{"sensor":"pulse","limit":180,"start":1795259045056,
 *       "peak":194,"end":1795259048056},"device":"collar-0001"}           (one line) values exceeded the limit; end null: until the end of the run
 *
 * Times are in epoch ms. Values are exact doubles, including -0. A message that is sent again after a reconnect still has only
 * one line of each kind. `series` holds the samples that must be stored, so it is empty for a message without valid samples.
 * After a kill -9, the last line of a run may be incomplete. The event of that line had not happened yet.
 */
export const LEDGER_VERSION = 1;

export const headerLine = (begun: number) =>
  `${JSON.stringify({ ledger: LEDGER_VERSION, begun: new Date(begun).toISOString() })}\n`;

/** Without the message number, which is assigned when the message is sent. @param series the samples that must be stored */
export const noteOf = (device: string, series: Series[]) =>
  `"device":${JSON.stringify(device)},"series":[${series.filter(hasSamples).map(seriesText).join(',')}]`;

/** @param number of the message in this run, from 1 */
export const sentLine = (number: number, note: string) => `{"sent":${number},${note}}\n`;

export const acknowledgedLine = (number: number) => `{"acknowledged":${number}}\n`;

export const episodeLine = (device: string, episode: SentEpisode) =>
  `${JSON.stringify({ episode, device })}\n`;

const hasSamples = ({ samples }: Series) => samples.length > 0;

const seriesText = ({ name, samples }: Series) =>
  `{"sensor":${JSON.stringify(name)},"times":[${samples.map(({ ts }) => ts).join(',')}],` +
  `"values":[${samples.map(({ value }) => numberText(value)).join(',')}]}`;
