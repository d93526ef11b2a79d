/**
 * Returns the address of an asset. The path is a parameter, because the files of the dashboard are below `/assets/`.
 *
 * @param path names from the root; null: the page of the roots
 */
export const assetHref = (path: string | null): string =>
  path === null ? '/assets' : `/assets?path=${encodeURIComponent(path).replaceAll('%2F', '/')}`;

/** @returns each asset on the path with its own path, the root first */
export function stepsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/');
  return names.map((name, index) => ({ name, path: names.slice(0, index + 1).join('/') }));
}

/** @returns path of the parent; null: the asset is a root */
export function parentOf(path: string): string | null {
  const end = path.lastIndexOf('/');
  return end === -1 ? null : path.slice(0, end);
}

/** @returns the address of the wall with the sensors of an asset, grouped by a level */
export const wallHref = (path: string, level: string): string =>
  `/?${new URLSearchParams({ place: path, level })}`;
