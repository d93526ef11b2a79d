import { SETTINGS, type Setting } from './schema.ts';

const ALL: [name: string, setting: Setting][] = Object.entries(SETTINGS);

const GROUPS: [group: string, settings: [name: string, setting: Setting][]][] = [
  ...new Set(ALL.map(([, { group }]) => group)),
].map((group) => [group, ALL.filter(([, setting]) => setting.group === group)]);

const SECRETS = ALL.filter(([, { secret }]) => secret).map(([name]) => name);

export const envExample = (): string =>
  `# Settings of Millrace, each with its default. Copy this file to .env and take the # away from what you change.
# The environment goes before .env. An empty value is no value. Durations are 500ms 1s 5m 1h 30d 1y.
# A secret may stand in a file instead. These settings take its path:
# ${SECRETS.map((name) => `${name}_FILE`).join(', ')}
# docs/reference/settings.md has the same as tables. npm run docs:reference writes both from common/settings/schema.ts.

${GROUPS.map(([group, settings]) => [`## ${group}`, ...settings.map(asExample)].join('\n\n')).join('\n\n')}
`;

const asExample = ([name, { help, values, fallback, unset }]: [string, Setting]): string =>
  `# ${help} Values: ${values}.${unset ? ` Unset: ${unset}.` : ''}\n#${name}=${fallback ?? ''}`;

export const settingsPage = (): string =>
  `# Settings

Every process reads its settings when it starts, from the environment and from \`.env\` in its working directory. The environment goes before
\`.env\`, and an empty value is no value. All wrong settings are reported at once, and the process ends with exit code 78.

Durations are a number with a unit: \`500ms\`, \`1s\`, \`5m\`, \`1h\`, \`30d\`, \`1y\`. A setting marked "secret" may stand in a file instead: set
\`NAME_FILE\` to the path of the file. No log line and no answer contains a secret.

This page and \`.env.example\` are generated from \`common/settings/schema.ts\` by \`npm run docs:reference\`. Rules for several settings together,
such as a token for every address beyond loopback, are in \`common/settings/rules.ts\`.

${GROUPS.map(([group, settings]) => `## ${group}\n\n${table(settings)}`).join('\n\n')}
`;

const table = (settings: [string, Setting][]) =>
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
