import type { SettingsGroup } from './group.ts';
import { SETTINGS, type Setting } from './schema.ts';

type Settings = Array<[name: string, setting: Setting]>;

const allOf = (groups: SettingsGroup[]): Settings =>
  [SETTINGS, ...groups.map(({ settings }) => settings)].flatMap((settings) => Object.entries(settings));

const byGroup = (all: Settings): Array<[group: string, settings: Settings]> =>
  [...new Set(all.map(([, { group }]) => group))].map((group) => [
    group,
    all.filter(([, setting]) => setting.group === group),
  ]);

/** @param groups settings of the features */
export function envExample(groups: SettingsGroup[]): string {
  const all = allOf(groups);
  const secrets = all.filter(([, { secret }]) => secret).map(([name]) => `${name}_FILE`);
  return `# Settings of Millrace, each with its default. Copy this file to .env and take the # away from what you change.
# The environment goes before .env. An empty value is no value. Durations are 500ms 1s 5m 1h 30d 1y.
# A secret may stand in a file instead. These settings take its path:
# ${secrets.join(', ')}
# The manual has the same as tables. npm run docs:reference writes this file from common/settings/schema.ts and the features.

${byGroup(all)
  .map(([group, settings]) => [`## ${group}`, ...settings.map(asExample)].join('\n\n'))
  .join('\n\n')}
`;
}

const asExample = ([name, { help, values, fallback, unset }]: [string, Setting]): string =>
  `# ${help} Values: ${values}.${unset ? ` Unset: ${unset}.` : ''}\n#${name}=${fallback ?? ''}`;

/** @param groups settings of the features */
export const settingsTables = (groups: SettingsGroup[]): string =>
  byGroup(allOf(groups))
    .map(([group, settings]) => `## ${group}\n\n${table(settings)}\n`)
    .join('\n');

const table = (settings: Settings) =>
  ['| name | values | default | meaning |', '| --- | --- | --- | --- |', ...settings.map(asRow)].join('\n');

function asRow([name, { help, values, fallback, unset, secret }]: [string, Setting]): string {
  const cells = [
    `\`${name}\`${secret ? ' (secret)' : ''}`,
    values,
    fallback === undefined ? (unset ?? 'unset') : `\`${fallback}\``,
    help,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
