import { z } from 'zod';
import { homeRunOf } from '../../jobs/features.ts';
import { homeRefresh } from '../../jobs/home/job.ts';
import { homeActions } from '../../jobs/home/view.ts';
import type { VisibleKind } from '../../jobs/shared/origin.ts';
import { message } from '../../slack/blocks.ts';
import { noticeView } from '../../slack/modals.ts';
import { type RunBase, runBase } from '../../store/runs.ts';
import type { Caller, CommandTools } from '../intake.ts';
import { defineButton, type EventListener, type Registry } from '../registry.ts';

const buttonValue = z.object({ v: z.literal(1), run: z.string(), need: z.string() });

/**
 * [Answer] and [Fix] on Home: show a question again, whose first message may be gone, with the same buttons. If it was answered
 * already, shows the answer.
 */
const answerButtons = Object.values(homeActions).map((action) =>
  defineButton({
    action,
    may: 'status',
    value: buttonValue,
    async run({ run, need }, caller, tools) {
      return tools.openModal(caller, noticeView('Needs you', await askAgain(run, need, caller, tools)));
    },
  }),
);

async function askAgain(runId: string, id: string, caller: Caller, { intake }: CommandTools) {
  const { kind, run } = homeRunOf(await intake.loadVisible(runId, anyKind, caller, gone)) ?? {};
  const needs = kind?.needs;
  if (needs === undefined || run === undefined) return gone;
  const need = { user: caller.user.id, id };
  const waits = needs.of(run).some((one) => one.user === need.user && one.id === id);
  return waits ? needs.question(run, need) : needs.answered(run, need);
}

/** Any run that Home lists, of every feature; all other runs are visible to nobody. */
const anyKind: VisibleKind<RunBase> = {
  what: 'question',
  record: runBase.loose(),
  visible(loaded) {
    const found = homeRunOf(loaded);
    const nobody = { by: { id: '' }, asked: { channel: '', isPublic: false }, inDirectMessage: true };
    return found ? found.kind.visible(found.run) : nobody;
  },
};

const gone = message(["I no longer have this question: it was answered, or it's too old."]);

const homeOpened = z.object({ tab: z.literal('home'), user: z.string() });

/** Refreshes the Home tab for the person who opens it. Slack also sends the event for the app's other tabs. */
const openedEvent: EventListener = {
  event: 'app_home_opened',
  subscriptions: { app_home_opened: undefined },
  async handle(event, _envelope, { identity: { teamId }, people, wake }) {
    const opened = homeOpened.safeParse(event);
    if (!opened.success) return;
    await people.markHomeOpened(teamId, opened.data.user);
    wake(homeRefresh(teamId, opened.data.user));
  },
};

export const homeCommands = { buttons: answerButtons, events: [openedEvent] } satisfies Partial<Registry>;
