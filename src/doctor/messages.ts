import { readdirSync, readFileSync } from 'node:fs';
import type { View } from '@slack/web-api';
import { parse } from 'yaml';
import type { Settings } from '../config/settings.ts';
import { tryOr } from '../runtime/try-or.ts';
import { fillLinks, type Message } from '../slack/blocks.ts';
import { type SlackApiError, toSlackApiError } from '../slack/errors.ts';
import { inRoot, render, wrong } from './lines.ts';
import { BOT_TOKEN_FIX, lineOfError, slackCalls } from './slack.ts';

/** Slack publishes no rate for `blocks.validate`, only that it has one of its own. */
const EVERY_MS = 1000;

/** The samples of all messages, modals and Home tabs, in the repository. */
const FOLDER = 'test/outside/golden';

/** A sample: a message, a modal or a Home tab in one state, by its name. */
export type Samples = Record<string, Message | View>;

/** Returns the samples, none outside of a checkout of the repository. */
function readSamples(): Samples {
  const names = tryOr([], () => readdirSync(inRoot(FOLDER)));
  return Object.assign({}, ...names.map((name) => parse(readFileSync(inRoot(`${FOLDER}/${name}`), 'utf8'))));
}

interface MessagesParts {
  settings: Settings;
  /** The workspace whose token is used; by default, the first. */
  workspace?: string | undefined;
  samples?: Samples;
  sleep: (ms: number) => Promise<unknown>;
  print: (text: string) => void;
}

/**
 * Asks Slack whether it takes each sample: `blocks.validate` shows them to nobody. Prints what Slack refuses, and returns
 * whether it takes all.
 */
export async function checkMessages(parts: MessagesParts): Promise<boolean> {
  const { settings, workspace, samples = readSamples(), sleep, print } = parts;
  const own = settings.workspaces.find(({ name }) => workspace === undefined || name === workspace);
  const states = Object.entries(samples);
  const missing = `The samples are in ${FOLDER} of a checkout of Docket, and this isn't one.`;
  if (own === undefined || states.length === 0) {
    print(render([wrong('Messages', own ? missing : `There is no workspace ${workspace} in the settings.`)]));
    return false;
  }
  const { call } = slackCalls(settings, own.botToken.secret);
  print(`${states.length} samples, one a second: about ${Math.ceil(states.length / 60)} min.\n`);
  let refused = 0;
  for (const [name, shown] of states) {
    const error = await validate(shown);
    if (error === undefined) continue;
    if (error.kind !== 'blocks' && error.pointers.length === 0) {
      print(render([lineOfError(settings, own.botToken.name, BOT_TOKEN_FIX, error)]));
      return false;
    }
    refused += 1;
    print(render([wrong(name, [error.code, ...error.pointers].join('\n    '))]));
  }
  print(`Slack takes ${states.length - refused} of ${states.length} samples.\n`);
  return refused === 0;

  /** Returns Slack's error, if any. Stops for as long as Slack says. */
  async function validate(shown: Message | View): Promise<SlackApiError | undefined> {
    const filled = 'type' in shown ? { view: shown } : await fillLinks(shown, async () => LINK);
    const payload = 'view' in filled ? filled : { message: { blocks: filled.blocks } };
    for (;;) {
      await sleep(EVERY_MS);
      const error = await call('blocks.validate', payload).then(
        () => undefined,
        (reason: unknown) => toSlackApiError('blocks.validate', reason),
      );
      if (error?.kind !== 'limited') return error;
      const waitMs = error.retryAfterMs ?? 60_000;
      print(`Slack limits these calls: the next one is in ${Math.ceil(waitMs / 1000)} s.\n`);
      await sleep(waitMs);
    }
  }
}

/** In place of a download link. */
const LINK = 'https://bundles.example/export.tar.gz';
