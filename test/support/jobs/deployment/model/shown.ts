/** What a person sees of deployments: messages with their buttons, and what they claim. */

export interface SeenButton {
  label: string;
  action: string;
  value: string;
  /** All that the person reads before the click: the message, and the confirmation. */
  text: string;
  deployment: string | undefined;
  version: string | undefined;
  isCard: boolean;
  isModal: boolean;
}

export interface Seen {
  ts?: string;
  /** What Slack has. Another one after each edit. */
  content?: unknown;
  text: string;
  buttons: SeenButton[];
  deployment: string | undefined;
  version: string | undefined;
  /** `line`: the state of one update; `question`: the same, and somebody has to answer. */
  kind: 'line' | 'question' | 'other';
  claim: Claim | undefined;
}

export type Claim = keyof typeof CLAIMS;

/** What the state of an update says of its version. The first that fits. */
const CLAIMS = {
  below: /see the latest message below/,
  kept: /The site still has it from before/,
  pending: /Deploying to/,
  unclear: /Did the workflow for|may have this export/,
  replaced: /Replaced +on/,
  overtaken: /was asked for later/,
  left: /Not started again/,
  unusable: /couldn't use this export|Not deployed to \S+ again/,
  failed: /Not deployed to/,
  unlinked: /No fresh link for/,
  live: /Live on/,
  has: /Sent to|The workflow for/,
};

const claims = Object.keys(CLAIMS) as Claim[];

/** The messages of an export, which list its deployments. */
const EXPORT = /Exported +·|Link expired|is exported/;

const DEPLOYMENT = /\b(?:production|staging)\b/;
const VERSION = /docs\.acme\.com \(?(v\d)/;

// biome-ignore lint/suspicious/noExplicitAny: Slack's blocks
type Block = any;

const textOf = (block: Block): string => {
  if (block === null || typeof block !== 'object') return '';
  if (Array.isArray(block)) return block.map(textOf).join(' ');
  const { type, text, elements = [], fallback = '', confirm, url } = block;
  if (type === 'actions') return elements.map((one: Block) => textOf(one.confirm)).join(' ');
  const own = typeof text === 'string' ? text : textOf(text);
  return [own, type === 'date' ? fallback : '', textOf(elements), textOf(confirm), url && '']
    .filter(Boolean)
    .join(type?.startsWith('rich_text') ? '' : ' ');
};

function buttonsOf(
  blocks: Block[],
  text: string,
  version: string | undefined,
  isModal: boolean,
): SeenButton[] {
  const isCard = EXPORT.test(text);
  const of = (label: string) => ({
    ...{ label, version, isModal, isCard: isCard && !isModal },
    deployment: DEPLOYMENT.exec(`${label} ${text}`)?.[0],
  });
  return blocks.flatMap(({ type, elements, block_id, accessory }: Block) =>
    (type === 'actions' ? elements : accessory ? [accessory] : []).flatMap((one: Block) => {
      if (one.type === 'overflow')
        return one.options.map((option: Block) => ({
          ...of(option.text.text),
          ...{ action: option.value, value: block_id, text },
        }));
      const said = one.confirm ? `${text} ${JSON.stringify(one.confirm)}` : text;
      const { value = '', action_id: action, url } = one;
      return url ? [] : [{ ...of(one.text.text), action, value, text: said }];
    }),
  );
}

/** Reads a message or a view as a person does. In a thread, its root says which version it is about. */
export function read(
  { text = '', blocks = [] }: { text?: string; blocks?: Block[] },
  { isModal = false, root = '' } = {},
): Seen {
  const all = blocks.map(textOf).join('\n') || text;
  const version = /\bv\d\b/.exec(root)?.[0] ?? VERSION.exec(all)?.[1];
  const buttons = buttonsOf(blocks, all, version, isModal);
  const deployment = DEPLOYMENT.exec(all)?.[0];
  const claim = deployment === undefined ? undefined : claims.find((one) => CLAIMS[one].test(all));
  const isOwn = claim !== undefined && !isModal && !EXPORT.test(all);
  const isQuestion = buttons.some(({ label }) => label === 'Start anyway');
  const kind = isQuestion ? 'question' : isOwn ? 'line' : 'other';
  return { text: all, buttons, deployment, version, kind, claim };
}
