import type { ModalView } from '@slack/types';
import { z } from 'zod';
import { threadButton } from '../../jobs/agent/thread/buttons.ts';
import { threadKind } from '../../jobs/agent/thread/record.ts';
import { conversationOf, requestRunId } from '../../jobs/shared/origin.ts';
import { listNames, unknownProjectText } from '../../jobs/shared/wording-view.ts';
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
import { defaultDomain, type Project, projectsWithId, resolveProject } from '../../projects.ts';
import { isGitRef } from '../../runtime/git-ref.ts';
import { type Message, message } from '../../slack/blocks.ts';
import { formView, textField } from '../../slack/modals.ts';
import { idOf } from '../../store/keys.ts';
import { projectWithoutId } from '../agent/follow.ts';
import { projectFields } from '../agent/modal.ts';
import { asCode, defineCommand, invalid, ok, projectFlag, subcommand } from '../command.ts';
import { type Caller, type CommandTools, handledMessage, retryStale } from '../intake.ts';
import { defineButton, defineModal, type Registry } from '../registry.ts';

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

function readBranch(typed: string | undefined) {
  if (typed === undefined) return invalid('Which branch? For example: ', { code: previewExample });
  if (isGitRef(typed)) return ok(typed);
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
  if ('by' in acceptance) return runningReply(acceptance.by, run, caller, tools);
  await tools.audit({ subject: subject(run), result: 'accepted' });
  return undefined;
}

/** The reply if the run with the id `by` makes what `run` would make. */
const runningReply = async (by: string, run: SiteRun, caller: Caller, { intake }: CommandTools) =>
  runningMessage((await intake.loadKnown(by, siteRun, caller)) ?? run, caller);

const PREVIEW_CALLBACK = 'site.preview';

/** Asks for the branch of a preview, and for its project if there are several. */
export const previewView = (projects: readonly Project[]): ModalView =>
  formView({
    title: 'Preview a branch',
    submit: 'Build preview',
    callback: PREVIEW_CALLBACK,
    fields: [
      ...projectFields(projects, undefined),
      textField({ block: 'branch', label: 'Branch', placeholder: 'agent/quickstart' }),
    ],
  });

/** [Preview a branch], on Home. */
const askButton = defineButton({
  action: siteActions.ask,
  may: 'site',
  value: z.object({ v: z.literal(1) }),
  run: (_value, caller, tools) => tools.openModal(caller, previewView(projectsWithId(tools.projects))),
});

const previewModal = defineModal({
  callbackId: PREVIEW_CALLBACK,
  may: 'site',
  async submit({ branch = '', project }, caller, tools) {
    if (!isGitRef(branch))
      return {
        kind: 'problems',
        problems: { branch: 'Type the name of a branch, such as agent/quickstart.' },
      };
    return { kind: 'closed', answer: await begin(branch, project, caller, tools) };
  },
});

const forgotten = message(['I no longer remember this. Ask for it once more.']);

/** [Preview] in a followed thread. */
const previewButton = defineButton({
  action: siteActions.ofThread,
  may: 'site',
  value: threadButton,
  async run({ run: threadId }, caller, tools) {
    const thread = await tools.intake.loadVisible(threadId, threadKind, caller, forgotten);
    const { teamId, project, place, asked, inDirectMessage, seen } = thread;
    if (seen?.ref === undefined || place === undefined) return forgotten;
    const { channel, rootTs: threadTs } = place;
    const wanted = {
      id: requestRunId(caller),
      teamId,
      project,
      branch: seen.ref,
      inDirectMessage,
      asked: { channel, joinable: true, isPublic: asked.isPublic && channel === asked.channel },
      thread: { id: threadId, channel, threadTs },
    };
    return accept(wanted, caller, tools);
  },
});

/** [Try again], [Build again] and [Start anyway] of an ended run, and the answers to an open question. */
const answerButtons = (['startAgain', 'tryAgain', 'buildAgain', 'leave'] as const).map((action) =>
  defineButton({
    action: siteActions[action],
    may: 'site',
    value: siteButton,
    run: ({ site, attempt }, caller, tools) =>
      retryStale(siteKind.what, async () => {
        const run: SiteRun = await tools.intake.loadVisible(site, siteKind, caller, forgotten);
        if (action !== 'leave' && run.state === 'ended')
          return accept({ ...run, id: idOf('again', run.id) }, caller, tools);
        const isOpen = run.state === 'unknown' && run.attempt === attempt;
        if (!isOpen || (action !== 'startAgain' && action !== 'leave'))
          return handledMessage(undefined, caller.user.id);
        const next = answerQuestion(run, caller.user, action, tools.now());
        // The claim may have expired while the question was open.
        const how = action === 'startAgain' ? ({ claims: true } as const) : {};
        const acceptance = await tools.intake.resume(next, caller, how);
        if ('by' in acceptance) return runningReply(acceptance.by, run, caller, tools);
        return acceptance.kind === 'stale' ? 'stale' : undefined;
      }),
  }),
);

export const siteCommands = {
  commands: [siteCommand],
  buttons: [askButton, previewButton, ...answerButtons],
  modals: [previewModal],
  urlActions: [siteActions.open],
} satisfies Partial<Registry>;
