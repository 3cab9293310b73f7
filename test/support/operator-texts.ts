import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Expression, type PrivateIdentifier, parseSync, Visitor } from 'oxc-parser';

const root = join(import.meta.dirname, '../..');

/** Folders and files whose sentences are printed, by the error that ends the start or as a problem in `/readyz`. */
const PRINTED = [
  'src/after-restore/main.ts',
  'src/config/',
  'src/deployments/troubles.ts',
  'src/docs-api/errors.ts',
  'src/role.ts',
  'src/server/',
  'src/slack/web-calls.ts',
  'src/store/embedded-redis.ts',
  'src/store/redis/check.ts',
  'src/store/schema.ts',
  'src/worker.ts',
  'src/workspaces.ts',
];

/** What an operator may read in the log at `warn` or above, or when the start ends. `…` stands for what varies. */
export interface OperatorText {
  file: string;
  text: string;
}

/** Returns the texts that the program prints for operators. */
export function operatorTexts(): OperatorText[] {
  return readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name))
    .sort()
    .flatMap((file) => textsOf(file).map((text) => ({ file, text })));
}

function textsOf(file: string): string[] {
  const texts = new Set<string>();
  const isPrinted = PRINTED.some((place) => file.startsWith(place));
  const add = (text: string | undefined) => {
    if (text !== undefined && isSentence(text)) texts.add(text);
  };
  /** Parts of longer texts, and what is logged at a lower level. */
  const left = new Set<unknown>();
  new Visitor({
    CallExpression({ callee, arguments: args }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      if (callee.property.name === 'info') for (const arg of args) left.add(arg);
      if (!['warn', 'error', 'fatal'].includes(callee.property.name)) return;
      for (const arg of args) if (arg.type !== 'SpreadElement') add(textOf(arg));
    },
    BinaryExpression(node) {
      if (!isPrinted || left.has(node)) return;
      for (const part of partsOf(node)) left.add(part);
      add(textOf(node));
    },
    Literal(node) {
      if (isPrinted && !left.has(node)) add(textOf(node));
    },
    TemplateLiteral(node) {
      if (isPrinted && !left.has(node)) add(textOf(node));
    },
  }).visit(parseSync(file, readFileSync(join(root, file), 'utf8')).program);
  return [...texts];
}

/** Two words and more, and no code. */
const isSentence = (text: string) =>
  /[a-z]{2,}[,:]? [a-z]/.test(text.replaceAll('…', '')) && text.length > 14;

function partsOf(node: unknown): unknown[] {
  const { type, left, right } = node as { type?: string; left?: unknown; right?: unknown };
  return type === 'BinaryExpression' ? [node, ...partsOf(left), ...partsOf(right)] : [node];
}

/** Returns a text that is written out, with `…` for each part that is not; `undefined` for anything else. */
function textOf(expression: Expression | PrivateIdentifier): string | undefined {
  if (expression.type === 'Literal')
    return typeof expression.value === 'string' ? expression.value : undefined;
  if (expression.type === 'TemplateLiteral')
    return expression.quasis.map(({ value }) => value.cooked).join('…');
  if (expression.type !== 'BinaryExpression' || expression.operator !== '+') return undefined;
  const [left, right] = [textOf(expression.left), textOf(expression.right)];
  return left === undefined && right === undefined ? undefined : `${left ?? '…'}${right ?? '…'}`;
}
