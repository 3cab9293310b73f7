import { describe, expect, test } from 'vitest';
import { type Block, familyOf, labelsOf, linesOf, textsOf, withoutQuotes } from './readable.ts';
import { blocksOf, type GalleryState } from './state.ts';
import { states } from './states.ts';
import { spokenText } from './words.ts';

// How Docket speaks: each rule returns what is wrong with a state.

type Rule = (state: GalleryState) => string[];

const BANNED =
  /\b(?:instruct(?:s|ed|ing|ions?)?|rounds?|editions?|modals?|dialogs?|go(?:es)? along|kept until|people who run (?:docket|me))\b|🔒|💤/giu;

/** Of deploying: a site of one's own takes an export. The platform's own builds are updates, and GitHub's workflows fail. */
const BANNED_IN_DEPLOYING =
  /\b(?:updat(?:e|es|ed|ing)|notif(?:y|ies|ied)|serves?|(?<!The workflow for \S+ )failed)\b/giu;

const LONG_FORMS =
  /\b(?:cannot|(?:can|could|do|does|did|is|are|was|were|has|have|had|will|would|should|must) not|I (?:am|will))\b/giu;

/** Codes of HTTP and of Slack. */
const CODES = /\((?:HTTP |status )?[1-5]\d\d\)|\b(?:HTTP|status) [1-5]\d\d\b|\b[a-z]+(?:_[a-z]+)+\b/gu;

const matchesIn = (texts: readonly string[], pattern: RegExp) =>
  texts.flatMap((text) => [...(text.match(pattern) ?? [])].map((match) => `${match}: ${text}`));

const isDeploying = (state: GalleryState) => familyOf(state) === 'deployment';

const actionsOf = ({ shown }: GalleryState) =>
  (blocksOf(shown) as Block[]).flatMap((block) => (block.type === 'actions' ? [block.elements ?? []] : []));

const rules: Record<string, Rule> = {
  // What the agent gets is shown as it is.
  'no banned word': (state) =>
    state.name === 'agent/modal/earlier messages' ? [] : matchesIn(textsOf(state), BANNED),
  'no banned word about deploying': (state) =>
    isDeploying(state) ? matchesIn(textsOf(state), BANNED_IN_DEPLOYING) : [],
  contractions: (state) => matchesIn(textsOf(state), LONG_FORMS),
  'no code in a first line': (state) => matchesIn(linesOf(state).slice(0, 1), CODES),
  'no line begins with a separator': (state) => linesOf(state).filter((line) => /^\s*·/u.test(line)),
  'no emoji is spoken': ({ shown }) =>
    shown.kind === 'message' &&
    /\p{Extended_Pictographic}/u.test(withoutQuotes(spokenText(shown.message.text)))
      ? [shown.message.text]
      : [],
  'at most three buttons, one of them primary': (state) =>
    actionsOf(state).flatMap((elements) => {
      const buttons = elements.filter(({ type }) => type === 'button');
      const primary = buttons.filter(({ style }) => style === 'primary');
      return buttons.length > 3 || primary.length > 1
        ? [buttons.map(({ text }) => text?.text).join(', ')]
        : [];
    }),
  'a label that repeats has one of its own for screen readers': (state) => {
    const buttons = actionsOf(state)
      .flat()
      .filter(({ type }) => type === 'button');
    const labels = buttons.map(({ text }) => text?.text ?? '');
    const spoken = buttons.map(({ accessibility_label: label }, at) => label ?? labels[at] ?? '');
    return spoken.filter((label, at) => spoken.indexOf(label) !== at);
  },
};

describe('in every state:', () => {
  test.each(Object.entries(rules))('%s', (_, rule) => {
    const wrong = states.flatMap((state) => rule(state).map((what) => `${state.name}: ${what}`));
    expect(wrong).toEqual([]);
  });
});

/** The parts of labels that are names and counts. */
const TEMPLATES: readonly [RegExp, string][] = [
  [/^Deploy to .+$/u, 'Deploy to {name}'],
  [/^Go back to .+$/u, 'Go back to {version}'],
  [/^Send with \d+ messages?$/u, 'Send with {n} messages'],
  // Where the message names the site, the button does not.
  [/^Export (?:\S+\.\S+|it)$/u, 'Export {domain}'],
];

const templateOf = (label: string) => TEMPLATES.find(([pattern]) => pattern.test(label))?.[1] ?? label;

test('each action has one label', () => {
  const byAction = Map.groupBy(states.flatMap(labelsOf), ({ action }) => action);
  const wrong = [...byAction].flatMap(([action, some]) => {
    const labels = [...new Set(some.map(({ label }) => templateOf(label)))];
    return labels.length > 1 ? [`${action}: ${labels.join(', ')}`] : [];
  });
  expect(wrong).toEqual([]);
});
