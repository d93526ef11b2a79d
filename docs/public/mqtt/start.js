const schema = await (await fetch('asyncapi.json')).text();

globalThis.AsyncApiStandalone.render(
  { schema, config: { show: { sidebar: true, errors: true } } },
  document.getElementById('reference'),
);
