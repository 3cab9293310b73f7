import { Readable } from 'node:stream';
import { pino } from 'pino';
import { deploymentCommands } from '../../../../../src/commands/deployment/buttons.ts';
import { homeCommands } from '../../../../../src/commands/home/home.ts';
import {
  type Caller,
  type CommandTools,
  createIntake,
  type IntakeParts,
  UserFacingError,
} from '../../../../../src/commands/intake.ts';
import type { JobContext } from '../../../../../src/jobs/engine/context.ts';
import { homeJob } from '../../../../../src/jobs/home/job.ts';
import type { Project } from '../../../../../src/projects.ts';
import { receiveCallbacks } from '../../../../../src/server/callbacks.ts';
import { createRunStore } from '../../../../../src/store/runs.ts';
import { aCaller } from '../../../commands/builders.ts';
import type { Engine } from '../../faults/engine.ts';
import { stepJob } from '../../world.ts';
import { signed } from './receivers.ts';
import { read, type Seen, type SeenButton } from './shown.ts';

const log = pino({ level: 'silent' });
const buttons = [...deploymentCommands.buttons, ...homeCommands.buttons];
const FORM = 'form ';

/** What a click led to: what the person reads then, and whether Docket has taken it. */
export interface Clicked {
  reply: Seen | undefined;
  isTaken: boolean;
}

/** Ana's clicks and Home tab, and the callbacks of deployments, as the web process takes them. */
export function createPeople({ redis, now }: Engine, projects: readonly Project[]) {
  const runs = createRunStore(redis);
  let clicks = 0;

  async function press({ action, value: text }: SeenButton, caller: Caller, tools: CommandTools) {
    const value = JSON.parse(text || 'null');
    const form = deploymentCommands.modals.find(({ callbackId }) => FORM + callbackId === action);
    if (form) {
      const result = await form.submit({}, caller, tools, { ticked: {}, about: value });
      return result.kind === 'closed' ? result.answer : undefined;
    }
    const known = buttons.find((one) => one.action === action);
    const parsed = known?.value.safeParse(value);
    if (known === undefined || !parsed?.success) throw new Error(`no button ${action}`);
    return known.run(parsed.data, caller, tools);
  }

  async function click(button: SeenButton): Promise<Clicked> {
    let isTaken = false;
    let view: (Parameters<typeof read>[0] & { callback_id?: string }) | undefined;
    let subject: unknown;
    const isPublic = async () => true;
    const intake = createIntake({
      runs,
      isPublic,
      isMember: isPublic,
      wake: () => {},
      timeoutMs: 60_000,
      claimMs: 86_400_000,
      monotonicMs: () => 0,
      metrics: { refusals: { add() {} } },
      log,
    } as unknown as IntakeParts);
    const tools = {
      intake,
      projects,
      now,
      isPublic,
      isMember: isPublic,
      requirePermission: async () => {},
      hasPermission: isPublic,
      async audit({ result }: { result: string }) {
        isTaken ||= result === 'accepted';
      },
      async openModal(_: unknown, opened: typeof view, about: unknown) {
        view = opened;
        subject = about;
      },
    } as unknown as CommandTools;
    clicks += 1;
    const caller = aCaller({
      requestId: `click ${clicks}`,
      triggerId: `click ${clicks}`,
      ...(button.isModal && { modalId: 'V0MODAL' }),
    });
    const reply = await press(button, caller, tools).catch((error: unknown) => {
      if (error instanceof UserFacingError) return error.reply;
      throw error;
    });
    const answered = view ?? reply;
    const seen = answered && read(answered, { isModal: view !== undefined || button.isModal });
    // A form is submitted like a click.
    if (seen && view?.callback_id !== undefined)
      seen.buttons.push({
        ...button,
        label: 'Go back',
        action: FORM + view.callback_id,
        value: JSON.stringify(subject),
        text: seen.text,
      });
    return { reply: seen, isTaken };
  }

  /** Returns Ana's Home tab. */
  async function home(context: JobContext): Promise<Seen> {
    let shown: Parameters<typeof read>[0] = {};
    const slack = {
      async publishHome(_: string, view: typeof shown) {
        shown = view;
      },
    };
    await stepJob(homeJob, 'T0ACME:U0ANA', {
      ...context,
      slack: { ...context.slack, ...slack } as unknown as JobContext['slack'],
    });
    return read(shown, { isModal: true });
  }

  let receive: (request: Readable, response: object) => unknown = () => {};
  const server = {
    route(_: string, handler: typeof receive) {
      receive = handler;
    },
  };
  receiveCallbacks({
    server,
    ...{ projects, runs, log, now, machineMs: now, wake: () => {} },
  } as unknown as Parameters<typeof receiveCallbacks>[0]);

  let callbacks = 0;
  /** Calls back about a message. Returns the status of the answer. */
  function callBack(id: string, content: object): Promise<number> {
    callbacks += 1;
    const body = JSON.stringify(content);
    const ownId = `${id}_${callbacks}`;
    const headers = { ...signed(ownId, body, now()), 'content-length': String(body.length) };
    const about = { method: 'POST', url: `/deployments/${id}`, headers };
    const request = Object.assign(Readable.from([Buffer.from(body)]), about);
    return new Promise((resolve) => {
      const response = {
        req: request,
        writeHead(status: number) {
          resolve(status);
          return response;
        },
        ...{ end() {}, write() {}, flushHeaders() {}, setHeader() {} },
      };
      receive(request, response);
    });
  }

  return { click, home, callBack };
}
