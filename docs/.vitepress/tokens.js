import { readFileSync } from 'node:fs';

const DASHBOARD = new URL('../../web/kit/base.css', import.meta.url);

/** @returns {string} the rules of the dashboard that define its fonts, sizes and colors as custom properties */
export const designTokens = () =>
  (readFileSync(DASHBOARD, 'utf8').match(/^:root \{[^}]*\}/gm) ?? []).join('\n');
