import { agentActions, threadButton } from '../../jobs/agent/thread/buttons.ts';
import { threadKind } from '../../jobs/agent/thread/record.ts';
import {
  answerQuestion,
  newSiteRun,
  type SiteRun,
  siteActions,
  siteButton,
  siteKind,
  siteRun,
} from '../../jobs/site/record.ts';
import { runningMessage, subject } from '../../jobs/site/view.ts';
import { conversationOf, requestRunId } from '../../jobs/visibility.ts';
import { listNames, unknownProjectText } from '../../jobs/wording-view.ts';
import { defaultDomain, resolveProject } from '../../projects.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { idOf } from '../../store/keys.ts';
import { projectWithoutId } from '../agent/follow.ts';
import { asCode, defineCommand, invalid, ok, projectFlag, subcommand } from '../command.ts';
import { type Caller, type CommandTools, handledMessage, retryStale } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';

const previewExample = '/docs-site preview agent/quickstart';

export const siteCommand = defineCommand({
  name: '/docs-site',
  may: 'site',
  subcommands: [
    subcommand({
      verb: 'preview',
      args: { branch: { takes: 'token', usage: '<branch>', read: readBranch } },
      flags: { project: projectFlag },
      summary: 'Build a preview of a branch, if the platform can',
      example: previewExample,
      run: ({ branch, project }, caller, tools) => begin(branch, project, caller, tools),
    }),
    subcommand({
      verb: 'update',
      args: { project: { ...projectFlag, takes: 'token', usage: '[project]' } },
      summary: 'Update the site from its branch, if the platform can',
      example: '/docs-site update',
      run: ({ project }, caller, tools) => begin(undefined, project, caller, tools),
    }),
  ],
});

/** Git forbids most of these characters in a branch. Slack puts links in < and >. */
function readBranch(typed: string | undefined) {
  if (typed === undefined) return invalid('Which branch? For example: ', { code: previewExample });
  if (/^[^\s~^:?*\\[<>]{1,200}$/.test(typed)) return ok(typed);
  return invalid(asCode(typed), " isn't a branch. For example: ", { code: previewExample });
}

/** Starts a typed request: a preview of a branch, or without one an update. `named` is the project, as typed. */
async function begin(
  branch: string | undefined,
  named: string | undefined,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const { teamId, channel } = caller;
  const found = resolveProject(tools.projects, { named, channel: channel.id });
  const known = tools.projects.map(({ name }) => name);
  if (found.kind === 'ambiguous') {
    const code = branch === undefined ? `update ${known[0]}` : `preview ${branch} --project ${known[0]}`;
    const question = `Which project: ${listNames(known)}? Nothing was started. For example: `;
    return message([[question, { code: `/docs-site ${code}` }]]);
  }
  if (found.kind !== 'project') return message([unknownProjectText(named ?? '', known)]);
  const { name: project, projectId } = found.project;
  if (projectId === undefined) throw projectWithoutId(project, 'started');
  const place = { asked: conversationOf(channel), inDirectMessage: channel.id === '' };
  return accept({ id: requestRunId(caller), teamId, project, branch, ...place }, caller, tools);
}

/** Stores a new run. Returns the reply if it blocks on another one, or is a repeated request. */
async function accept(
  wanted: Omit<Parameters<typeof newSiteRun>[0], 'by' | 'domain'>,
  caller: Caller,
  tools: CommandTools,
): Promise<Message | undefined> {
  const { id: userId, name } = caller.user;
  const query = { named: wanted.project, channel: caller.channel.id };
  const domain = defaultDomain(tools.projects, query, tools.docsDomain);
  const run = newSiteRun({ ...wanted, domain, by: { id: userId, name } }, tools.now());
  const acceptance = await tools.intake.start(run, caller);
  if (acceptance.kind === 'repeated') return handledMessage(undefined, userId);
  if ('by' in acceptance)
    return runningMessage((await tools.intake.loadKnown(acceptance.by, siteRun, caller)) ?? run, userId);
  await tools.audit({ subject: subject(run), result: 'accepted' });
  return undefined;
}

const forgotten = message(['I no longer remember this. Ask for it once more.']);

/** [Preview] in a followed thread. */
const previewButton = defineButton({
  action: agentActions.preview,
  may: 'site',
  value: threadButton,
  async run({ run: threadId }, caller, tools) {
    const thread = await tools.intake.loadVisible(threadId, threadKind, caller, forgotten);
    const { teamId, project, place, asked, inDirectMessage, seen } = thread;
    if (seen?.ref === undefined || place === undefined) return forgotten;
    const { channel, rootTs: threadTs } = place;
    const wanted = {
      ...{ id: requestRunId(caller), teamId, project, branch: seen.ref, inDirectMessage },
      asked: { channel, joinable: true, isPublic: asked.isPublic && channel === asked.channel },
      thread: { id: threadId, channel, threadTs },
    };
    return accept(wanted, caller, tools);
  },
});

/** [Try again] and [Refresh preview] of an ended run, and the answers to an open question. */
const answerButtons = (['startAgain', 'leave'] as const).map((action) =>
  defineButton({
    action: siteActions[action],
    may: 'site',
    value: siteButton,
    run: ({ site, attempt }, caller, tools) =>
      retryStale(siteKind.what, async () => {
        const run: SiteRun = await tools.intake.loadVisible(site, siteKind, caller, forgotten);
        if (action === 'startAgain' && run.state === 'ended')
          return accept({ ...run, id: idOf('again', run.id) }, caller, tools);
        if (run.state !== 'unknown' || run.attempt !== attempt)
          return handledMessage(undefined, caller.user.id);
        const next = answerQuestion(run, caller.user, action, tools.now());
        return (await tools.intake.resume(next, caller)).kind === 'stale' ? 'stale' : undefined;
      }),
  }),
);

export const siteCommands = {
  commands: [siteCommand],
  buttons: [previewButton, ...answerButtons],
  urlActions: [siteActions.open],
} satisfies Partial<Registry>;
