/** Nothing that the broker hands out has a longer topic, nor one of more levels. */
const MOST_CHARACTERS = 512;
const MOST_LEVELS = 8;

const MOST_OF_A_DEVICE = 32;

/** So much more, for each further device that it speaks for: its own topics, and its commands as an edge node. */
const MOST_OF_ANOTHER = 2;

/** Our own programs follow many devices at once. */
const MOST_OF_THE_INSTALLATION = 1024;

/**
 * Whether a connection may ask for one more filter. A refused one counts until it is unsubscribed, too: looking it up is what it
 * costs.
 *
 * @param {import('./connections.js').Connection} connection
 * @param {string} filter
 */
export function hasRoomFor({ account, filters }, filter) {
  if (filter.length > MOST_CHARACTERS || filter.split('/', MOST_LEVELS + 1).length > MOST_LEVELS)
    return false;
  return filters.has(filter) || filters.size < mostOf(account);
}

/** @param {import('../../access/credentials/permissions.js').Account | null} account */
function mostOf(account) {
  if (!account) return 0;
  if (account.isInstallation) return MOST_OF_THE_INSTALLATION;
  return MOST_OF_A_DEVICE + MOST_OF_ANOTHER * (account.ids.size - 1);
}
