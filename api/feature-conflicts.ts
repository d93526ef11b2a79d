import { SETTINGS } from '../common/settings/schema.ts';
import type { Feature } from './feature.ts';
import { CORE_CONTRACT } from './http/index.ts';

/** The names of the core, or of a feature, that may have only one owner in a process. */
type NamedParts = Pick<
  Feature,
  'name' | 'settings' | 'announced' | 'startMode' | 'openStamps' | 'externalBroker'
> &
  typeof CORE_CONTRACT;

const CORE: NamedParts = {
  ...CORE_CONTRACT,
  name: 'core',
  settings: [{ settings: SETTINGS, shape: {}, arrange: () => null, rules: () => [] }],
};

/** @throws with the names of the owners, if two features, or a feature and the core, have the same name for something */
export function checkConflicts(features: Feature[]) {
  const owners: Map<string, string> = new Map();
  for (const part of [CORE, ...features]) {
    for (const name of namesOf(part)) {
      const owner = owners.get(name);
      if (owner !== undefined)
        throw new Error(
          `Two features have the ${name}: ${owner} and ${part.name}. Rename one, or take one off the list.`,
        );
      owners.set(name, part.name);
    }
  }
}

function namesOf({
  name,
  settings = [],
  routes = [],
  openStamps,
  externalBroker,
  ...part
}: NamedParts): string[] {
  const list = (kind: string, members: object = {}) =>
    Object.keys(members).map((member) => `${kind} ${member}`);
  return [
    `name ${name}`,
    ...settings.flatMap((group) => list('setting', group.settings)),
    ...routes.map(({ method, path }) => `route ${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '{}')}`),
    ...routes.map(({ operation }) => `operation ${operation.id}`),
    ...list('tag', part.tags),
    ...list('schema', part.schemas),
    ...list('parameter', part.parameters),
    ...list('event', part.events),
    ...list('channel', part.channels),
    ...list('message', part.messages),
    ...list('announcement', part.announced),
    ...list('flag', part.startMode?.flags),
    ...(openStamps ? ['part openStamps'] : []),
    ...(externalBroker ? ['part externalBroker'] : []),
  ];
}
