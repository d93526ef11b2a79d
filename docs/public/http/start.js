// An API process describes itself, with its version and its kind of access. The published manual has a copy of the document only. There, the
// root of the host belongs to other projects, so it is not asked.
const response = location.pathname.startsWith('/docs/')
  ? await fetch('/openapi.json').catch(() => null)
  : null;
const isServed = response?.ok && response.headers.get('content-type')?.includes('json');
const content = isServed ? await response.json() : await (await fetch('openapi.json')).json();

globalThis.Scalar.createApiReference('#reference', {
  content,
  // Nothing is loaded from other hosts, and nothing is reported to them.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  defaultOpenAllTags: true,
  hideTestRequestButton: !isServed,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
});
