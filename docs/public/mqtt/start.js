// The document was parsed when the manual was built, so this page needs no parser, which would compile schemas by `eval`.
const schema = await (await fetch('asyncapi.parsed.json')).text();

globalThis.AsyncApiStandalone.render(
  { schema, config: { show: { sidebar: true, errors: true } } },
  document.getElementById('reference'),
);
