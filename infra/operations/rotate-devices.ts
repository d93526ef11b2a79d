import type { Given } from './flags.ts';
import { here, onNode, type Step } from './plan.ts';
import { command } from './steps/shell.ts';

export function deviceSecrets(given: Given): Step[] {
  const accounts = given.need('devices').split(',').filter(Boolean);
  return [
    here(
      'makes new secrets; the old ones stop working',
      command('npm', 'run', '-s', 'credentials', '--', 'rotate', ...accounts, '--file', given.need('file')),
    ),
    ...(given.broker ? ofMosquitto(given, given.broker) : []),
  ];
}

/** Mosquitto reads the password file and the access file again at SIGHUP. */
const ofMosquitto = (given: Given, directory: string): Step[] => [
  here(
    'writes the files of Mosquitto',
    command('npm', 'run', '-s', 'credentials', '--', 'mosquitto', '--out', directory),
  ),
  ...(given['deliver'] ? [here('delivers them', given['deliver'])] : []),
  ...given
    .need('nodes')
    .map((node) => onNode(node, 'Mosquitto reads them', 'sudo systemctl reload mosquitto')),
];
