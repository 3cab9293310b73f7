import type { Call } from '../../../demo/wire.ts';

/** What the outside calls of a digest are for. */
export interface Moments {
  labels: string[];
  /** Those of them that collect figures. */
  collecting: string[];
}

/** Calls that may be one; others find out who somebody is, or answer a command or a click. */
export const OF_DIGESTS = /^(?:GET|POST|chat\.(?!postEphemeral)|files|views)/;

/** The line of what ana has asked for under a digest. */
export const ASKED = /\nAsked by ana$/;

/** On a busy machine a message is posted or edited in a state that it else has sooner or later: no further moment. */
export const SAME_MESSAGES =
  /^chat\.(?:postMessage|update) (?:Docs agent, (?:starting|working|ready)|The agent (?:is|opened)|Finished,|asked)$/;

/** The call that somebody waits for. */
export const CLICK = 'views.open';

/** What an outside call is for; calls for the same have the same label. */
export function labelOf({ name, detail }: Call): string {
  if (name.endsWith('/views')) {
    const { limit, offset } = detail.query as Record<string, string>;
    return limit === '1' ? `${name} totals` : `${name} ${offset === '0' ? 'pages' : 'more pages'}`;
  }
  const text = String(detail.text ?? '');
  if (text === '') return name;
  if (text.startsWith('Digest of ')) return `${name} digest${chartIn(JSON.stringify(detail.blocks))}`;
  if (ASKED.test(text)) return `${name} asked`;
  return `${name} ${/^(?:Docs agent, \w+|The agent \w+|\S+)/.exec(text)?.[0]}`;
}

const chartIn = (blocks: string) => (blocks.includes('data_visualization') ? ' with chart' : '');

const VIEWS = 'GET /v1/analytics/{projectId}/views';

const collecting = [
  `${VIEWS} totals`,
  'GET /v1/analytics/{projectId}/visitors',
  'GET /v1/analytics/{projectId}/searches',
  'GET /v1/analytics/{projectId}/feedback/by-page',
  'GET /v1/analytics/{projectId}/assistant',
  `${VIEWS} pages`,
  `${VIEWS} more pages`,
];

const uploading = ['getUploadURLExternal', 'upload', 'completeUploadExternal', 'info'].map(
  (step) => `files.${step}`,
);

/** Every outside call of a digest, and of what people ask under it; `takesCharts`: Slack does not refuse its chart. */
export function momentsOf({ takesCharts = true } = {}): Moments {
  const labels = [
    ...collecting,
    'chat.postMessage digest with chart',
    ...(takesCharts ? ['chat.update digest with chart'] : ['chat.postMessage digest', 'chat.update digest']),
    'chat.postMessage Top',
    ...uploading,
    CLICK,
    'chat.postMessage Docs agent, starting',
    'POST /v2/agent/{projectId}/job',
    'GET /v2/agent/{projectId}/job/{jobId}',
    'chat.update Docs agent, working',
    'chat.postMessage The agent is',
    'chat.postMessage asked',
    'chat.update Docs agent, ready',
    'chat.update Finished,',
    'chat.postMessage The agent opened',
    'chat.update asked',
    // The whole instruction, in the thread of its job; then the answer to [Send now].
    'chat.postMessage Check',
    'chat.postMessage Posted',
  ];
  return { labels, collecting };
}
