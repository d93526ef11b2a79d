import { html } from 'htm/preact';
import { PipelineFigures } from '../components/pipeline-figures.js';
import { useTitle } from '../state/use-title.js';

/** The data's way, drawn as it runs. */
export function PipelineView() {
  useTitle('Pipeline');
  return html`
    <div class="title"><h1>Pipeline</h1></div>
    <${PipelineFigures} />
  `;
}
