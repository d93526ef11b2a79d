import type { TestSystem } from '../system/index.ts';

export async function valuesOf(system: TestSystem, device: string): Promise<Record<string, number | null>> {
  const response = await system.fetch(`/devices/${encodeURIComponent(device)}`);
  if (response.status === 404) return {};
  const { sensors } = await response.json();
  return Object.fromEntries(
    sensors
      .map((sensor: { name: string; value: unknown }) => [sensor.name, sensor.value])
      .filter(([, value]: unknown[]) => value !== null),
  );
}

export async function codesOf(system: TestSystem, device: string): Promise<string[]> {
  const deadLetters = await system.all(`/dead-letters?limit=1000&device=${encodeURIComponent(device)}`);
  return deadLetters.flatMap(({ codes }) => Object.keys(codes)).sort();
}

/** A message, with the values and the dead letters that it must leave. */
export type Case = [title: string, payload: string | Buffer, values: object, codes: string[]];

export const numbered = (
  cases: Case[],
): Array<[title: string, index: number, payload: string | Buffer, values: object, codes: string[]]> =>
  cases.map(([title, payload, values, codes], index) => [title, index, payload, values, codes]);
