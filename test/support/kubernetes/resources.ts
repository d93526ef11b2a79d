import type { Json } from '../json.ts';

/** as Kubernetes has it */
export type Resource = Record<string, Json>;

export const nameOf = ({ kind, metadata }: Resource): string => `${kind}/${metadata.name}`;

export const podOf = ({ kind, spec }: Resource): Resource | null =>
  ['StatefulSet', 'Deployment', 'Job'].includes(kind) ? spec.template : null;

/** @param name as `Kind/name` */
export function find(resources: Resource[], name: string): Resource {
  const found = resources.find((resource) => nameOf(resource) === name);
  if (!found) throw new Error(`There is no ${name}.`);
  return found;
}

export const carries = (labels: Record<string, string>, wanted: Record<string, string>): boolean =>
  Object.entries(wanted).every(([key, value]) => labels[key] === value);
