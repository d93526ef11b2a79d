import { askApi } from '../../common/api-client.ts';
import { readFlags } from '../../simulator/flags.ts';
import { describePlant } from '../../simulator/fleet/plant.ts';

const WITHIN_MS = 30_000;

/** A larger fleet is placed by the sites that its devices announce. */
const MAX_DEVICES = 20_000;

/**
 * Builds a tree of assets for the simulated devices, unless there are assets already, because these may have been changed by hand.
 *
 * @param url root URL of the API, with a slash at the end
 * @param words arguments of the simulator
 * @param options `certificate`: path of HTTP_TLS_CERT
 * @throws {Error} if the API does not answer, or refuses the tree
 */
export async function buildPlant(
  url: string,
  words: string[],
  options: { token?: string; certificate?: string } = {},
) {
  const { devices, profile, device, replay } = readFlags(words);
  if (replay !== undefined || devices > MAX_DEVICES) return;
  const request = { ...options, withinMs: WITHIN_MS };
  const roots = await askApi(`${url}api/v1/assets?limit=1`, request);
  if (roots.status !== 200 || JSON.parse(roots.text).items.length > 0) return;
  const body = describePlant({ devices, profile, device });
  const sent = { ...request, method: 'POST' as const, contentType: 'text/csv', body };
  const { status, text } = await askApi(`${url}api/v1/asset-tree`, sent);
  if (status !== 200) throw new Error(text);
}
