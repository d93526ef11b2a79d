import type { z } from 'zod';
import type { Config } from './config.ts';
import { aboutOf, type Setting, type SettingType } from './schema.ts';

/** `broken` is truthy if settings that are valid alone contradict each other. `message` names the setting to change first. */
export type Rule = [broken: unknown, message: string];

type Shape = Record<string, SettingType>;

/** The settings of one feature. `config.of(group)` returns them in the form of `arrange`. */
export interface SettingsGroup<T = unknown> {
  settings: Record<string, Setting>;
  shape: Shape;
  arrange: (values: Record<string, unknown>) => T;
  // A method, so that a list may hold groups of any type.
  rules(own: T, config: Config): Rule[];
}

/** @param group `title` is the heading of the settings in the documents */
export function defineSettings<S extends Shape, T>(group: {
  title: string;
  shape: S;
  arrange: (values: z.infer<z.ZodObject<S>>) => T;
  rules?: (own: T, config: Config) => Rule[];
}): SettingsGroup<T> {
  const { title, shape, arrange, rules = () => [] } = group;
  return {
    settings: Object.fromEntries(
      Object.entries(shape).map(([name, schema]) => [name, aboutOf(title, schema)]),
    ),
    shape,
    arrange: arrange as SettingsGroup<T>['arrange'],
    rules,
  };
}

export type NamedSetting = Setting & { name: string };

/** For the help of a command. */
export const namedSettings = (
  { settings }: Pick<SettingsGroup, 'settings'>,
  names: string[],
): NamedSetting[] =>
  Object.entries(settings).flatMap(([name, setting]) => (names.includes(name) ? [{ name, ...setting }] : []));
