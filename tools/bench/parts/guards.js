import { compare } from '../measure/comparison.js';
import { medianOf } from '../measure/rounds.js';
import { othersOf, stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Comparison } from '../measure/comparison.js' */
/** @import { Part } from './index.js' */

/** @typedef {'open' | 'accounts' | 'TLS' | 'both' | 'uncounted' | 'embedded' | 'embedded, both'} Name */

const NAMES = /** @type {Name[]} */ ([
  'open',
  'accounts',
  'TLS',
  'both',
  'uncounted',
  'embedded',
  'embedded, both',
]);

/** Many samples a message, some, and one: what is paid by the message weighs ever more. */
const LOADS = ['1x60', '4x10', '1x1'];

/**
 * The same ingest as it runs on a laptop and as it runs where others can reach it; and with its metrics left away.
 *
 * @type {Part<Comparison<Name>[]>}
 */
export const guards = {
  name: 'guards',
  title: 'What accounts, TLS and metrics cost: the whole way, with and without them',

  async run(context) {
    const { environment, flags } = context;
    const tls = environment.certificates;
    return compare(context, {
      loads: flags.shapes.filter((shape) => LOADS.includes(shape)),
      variants: {
        open: await environment.pipeline('packed'),
        accounts: await environment.guarded('accounts', { accounts: true }),
        TLS: await environment.guarded('tls', { tls }),
        both: await environment.guarded('guarded', { accounts: true, tls }),
        uncounted: await environment.pipeline('uncounted', { uncounted: true }),
        embedded: await environment.embedded('embedded', {}),
        'embedded, both': await environment.embedded('embedded-guarded', { accounts: true, tls }),
      },
      swept: [],
    });
  },

  tables: (loads) => [
    {
      head: [
        'thousand samples/s behind Mosquitto',
        'open',
        ...['accounts', 'TLS', 'both', 'no metrics'].flatMap((name) => [name, 'ratio']),
        'steal',
        'others',
      ],
      rows: loads.map(({ shape, rounds }) => [
        shape,
        figure(medianOf(rounds, ({ open }) => open.rate / 1000)),
        .../** @type {const} */ (['accounts', 'TLS', 'both', 'uncounted']).flatMap((name) => [
          figure(medianOf(rounds, (results) => results[name].rate / 1000)),
          figure(medianOf(rounds, (results) => results[name].rate / results.open.rate)),
        ]),
        stealOf(rounds),
        othersOf(rounds),
      ]),
    },
    {
      head: ['thousand samples/s, embedded broker', 'open', 'accounts and TLS', 'ratio', 'steal', 'others'],
      rows: loads.map(({ shape, rounds }) => [
        shape,
        figure(medianOf(rounds, ({ embedded }) => embedded.rate / 1000)),
        figure(medianOf(rounds, (results) => results['embedded, both'].rate / 1000)),
        figure(medianOf(rounds, (results) => results['embedded, both'].rate / results.embedded.rate)),
        stealOf(rounds),
        othersOf(rounds),
      ]),
    },
    {
      head: ['CPU µs a sample', 'ingest', 'database', 'broker', 'publisher'],
      rows: loads.flatMap(({ shape, rounds }) =>
        NAMES.map((name) => [
          `${shape} ${name === 'uncounted' ? 'no metrics' : name}`,
          ...['ingest', 'database', 'broker', 'publisher'].map((process) =>
            figure(medianOf(rounds, (results) => results[name].cpu[process] ?? Number.NaN)),
          ),
        ]),
      ),
    },
  ],
};
