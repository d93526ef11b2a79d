import { MillraceError } from '../../common/errors.js';
import { here, onNode } from './plan.js';
import { command, quote } from './shell.js';

/** @typedef {import('./given.js').Given} Given */
/** @typedef {import('./plan.js').Step} Step */

/** Secrets of the application's own, by the file that holds each, as infra/compose and infra/kubernetes call them. */
const FILES = /** @type {const} */ ({
  database: 'cql_serve_password',
  token: 'api_token',
  cursor: 'cursor_secret',
});

/** @satisfies {import('./given.js').Operation} */
export const rotate = {
  help: "a new secret in an old one's place: of the database, the API, or devices",
  shared: ['nodes', 'reach'],
  flags: {
    secret: { type: 'text', help: 'database, token, cursor or devices' },
    directory: { type: 'text', help: 'where its file is', fallback: 'infra/compose/secrets' },
    deliver: {
      type: 'text',
      help: 'command that hands the new file on, such as kubectl apply -k infra/kubernetes/secrets',
    },
    restart: {
      type: 'text',
      help: 'command that restarts the application on a node',
      fallback: 'sudo systemctl restart millrace',
    },
    ready: {
      type: 'text',
      help: 'address on each node that answers when it serves',
      fallback: 'http://127.0.0.1:8080/readyz',
    },
    devices: { type: 'text', help: 'with --secret devices: accounts, comma-separated' },
    file: { type: 'text', help: 'with --secret devices: file that their new secrets are added to' },
    broker: {
      type: 'text',
      help: 'with --secret devices: directory of the files of a Mosquitto, if that is the broker',
    },
  },
  plan(given) {
    const secret = given.need('secret');
    if (secret === 'devices') return ofDevices(given);
    if (!(secret in FILES))
      throw new MillraceError('usage', `--secret is devices, ${Object.keys(FILES).join(', ')}`);
    return ofFile(given, /** @type {keyof typeof FILES} */ (secret));
  },
};

/** @param {Given} given @param {keyof typeof FILES} secret @returns {Step[]} */
function ofFile(given, secret) {
  const file = quote(`${given['directory']}/${FILES[secret]}`);
  return [
    here('makes a new one, for its owner alone to read', `(umask 077 && openssl rand -hex 24 >${file}.new)`),
    ...(secret === 'database' ? [inDatabase(given, file)] : []),
    here('puts it in the place of the old one', `cat ${file}.new >${file} && rm ${file}.new`),
    ...(given['deliver'] ? [here('hands it on', given['deliver'])] : []),
    ...given
      .need('nodes')
      .flatMap((node) => [
        onNode(node, 'starts anew, and reads it', given['restart']),
        onNode(
          node,
          'waits until it serves',
          `until ${command('curl', '-fsS', '-o', '/dev/null', given['ready'])}; do sleep 2; done`,
        ),
      ]),
  ];
}

/**
 * Connections that are open stay good; what connects between this and its restart is refused, and tries again.
 *
 * @param {Given} given
 * @param {string} file quoted
 */
function inDatabase(given, file) {
  const migrate = quote(`${given['directory']}/cql_migrate_password`);
  return here(
    'tells the database, as CQL_USERNAME, which has to be a superuser',
    `npm run -s roles -- --migrate-password-file ${migrate} --serve-password-file ${file}.new`,
  );
}

/** @param {Given} given @returns {Step[]} */
function ofDevices(given) {
  const accounts = given.need('devices').split(',').filter(Boolean);
  return [
    here(
      'makes new secrets; the old ones are good no more',
      command('npm', 'run', '-s', 'credentials', '--', 'rotate', ...accounts, '--file', given.need('file')),
    ),
    ...(given['broker'] ? ofMosquitto(given) : []),
  ];
}

/** Mosquitto reads both files again at SIGHUP. @param {Given} given @returns {Step[]} */
const ofMosquitto = (given) => [
  here(
    'writes the files of Mosquitto',
    command('npm', 'run', '-s', 'credentials', '--', 'mosquitto', '--out', given['broker']),
  ),
  ...(given['deliver'] ? [here('hands them on', given['deliver'])] : []),
  ...given
    .need('nodes')
    .map((node) => onNode(node, 'Mosquitto reads them', 'sudo systemctl reload mosquitto')),
];
