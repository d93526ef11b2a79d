import { transformSync } from 'esbuild';

/** Lets unit tests import the dashboard's modules, as the bundler does. A stylesheet is an empty module. */
export default {
  process: (source: string, path: string): { code: string } =>
    path.endsWith('.css')
      ? { code: '' }
      : transformSync(source, {
          loader: 'tsx',
          jsx: 'automatic',
          jsxImportSource: 'preact',
          sourcefile: path,
          sourcemap: 'inline',
        }),
};
