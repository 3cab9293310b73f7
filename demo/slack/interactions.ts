import { z } from 'zod';
import { checkView } from './block-kit/view.ts';
import { type Chosen, choiceOf, stateOf, type Values } from './choice.ts';
import { clickableIn } from './clickable.ts';
import { type Control, controlsOf } from './controls.ts';
import { checkComplete, type Field, fieldsOf, fillIn } from './form.ts';
import { Impossible } from './impossible.ts';
import { channelById } from './inside.ts';
import { actionOf, interaction, messageOrigin } from './payloads.ts';
import type { PersonParts } from './person-parts.ts';
import { refusalOf } from './refused.ts';
import { namesOf } from './render.ts';
import { type Answer, answered, type Delivery } from './requests.ts';
import type { View } from './views.ts';
import type { Channel, Ephemeral, SentMessage, User } from './workspace.ts';

const errorsSchema = z
  .record(z.string(), z.string().min(1))
  .refine((errors) => Object.keys(errors).length > 0);

/** What tells controls of one message or view apart. */
export interface ControlIds {
  blockId: string;
  actionId: string;
}

/** What a person can click in. */
type Target = SentMessage | Ephemeral | View;

export interface Interactions {
  /**
   * Clicks the button with this text, or the entry of a menu, and confirms when asked. A button with a url sends the
   * action too. Of several, it is the next one `below` the words.
   */
  clicks(target: Target, button: string, options?: { triggerId?: string; below?: string }): Promise<Answer>;
  /** What is asked before the click on this button, or entry of a menu, counts; `undefined` when nothing is. */
  asked(target: Target, button: string): Confirmation | undefined;
  /** Uses a select, an overflow menu, checkboxes, radio buttons or a picker, named by its label or placeholder. */
  chooses(target: Target, control: string, chosen: Chosen): Promise<Answer>;
  /** Uses the control of these ids, whatever it is; `chosen` for all but buttons. */
  uses(target: Target, control: ControlIds, chosen?: Chosen): Promise<Answer>;
  /** The fields of the visible modal, with what is filled in, what can be chosen, and errors. */
  fields(): Field[];
  /** Fills in the visible modal, by label or block id; values stay until it is closed. `''` empties a field. */
  fills(values: Record<string, Chosen>): void;
  /** Fills in and submits the visible modal; `errors` of the answer are those beside its fields. */
  submits(values?: Record<string, Chosen>): Promise<Answer>;
  /** Closes the visible modal; `undefined` when the app gets no event for it. */
  closes(): Promise<Answer | undefined>;
  /** Uses a shortcut by its name: on a message, or a global one. */
  usesShortcut(name: string, target?: SentMessage, options?: { triggerId?: string }): Promise<Answer>;
}

/** The dialog over a button, as a person reads it. */
interface Confirmation {
  title: string;
  text: string;
  buttons: [confirm: string, deny: string];
}

/** What one person does with buttons, menus, modals and shortcuts. */
export function createInteractions(user: User, { inside, requests, replies }: PersonParts): Interactions {
  const { workspace, manifest, triggers, views, violations } = inside;
  const filled = new WeakMap<Target, Values>();

  function seen(target: SentMessage | Ephemeral): Channel {
    const channel = channelById(workspace, target.channel);
    const hidden = 'to' in target && target.to !== user.id;
    if (!channel?.members.has(user.id) || hidden)
      throw new Impossible(`${user.name} does not see this message`);
    if (target.deleted) throw new Impossible('This message is gone');
    return channel;
  }

  function origin(target: Target): Record<string, unknown> {
    if ('definition' in target) {
      if (target.user !== user.id) throw new Impossible(`${user.name} does not see this view`);
      const values = stateOf(target.blocks, filled.get(target) ?? {});
      return { container: { type: 'view', view_id: target.id }, view: views.json(target, values) };
    }
    const channel = seen(target);
    const place = { channel: channel.id, user: user.id, original: target };
    return {
      ...messageOrigin(inside, channel, target),
      state: { values: stateOf(target.blocks, filled.get(target) ?? {}) },
      response_url: replies.urlFor(place),
    };
  }

  function act(target: Target, control: Control, chosen: Record<string, unknown>, triggerId?: string) {
    if (!manifest.interactive) throw new Impossible('The manifest does not enable interactivity');
    const payload = {
      ...interaction(inside, 'block_actions', user),
      ...origin(target),
      trigger_id: triggers.issue(user.id, triggerId),
      actions: [actionOf(control, chosen, workspace.newTs())],
    };
    return requests.send(requests.payload(`block_actions [${control.label}]`, payload));
  }

  function visible(): View {
    const view = views.stackOf(user.id).at(-1);
    if (!view) throw new Impossible(`${user.name} has no modal open`);
    return view;
  }

  function fills(given: Record<string, Chosen>): void {
    const view = visible();
    filled.set(view, fillIn(workspace, user, view.blocks, filled.get(view) ?? {}, given));
    workspace.changed();
  }

  /** What a modal's submission does, by the app's answer (https://docs.slack.dev/surfaces/modals#response_actions). */
  function submitted(view: View, delivery: Delivery): Answer {
    const { body } = delivery;
    if (body.trim() === '') {
      views.pop(user.id);
      return answered(delivery);
    }
    try {
      const answer = JSON.parse(body) as Record<string, unknown>;
      if (answer.response_action === 'clear') views.pop(user.id, true);
      else if (answer.response_action === 'update') {
        views.replace(view, checkView(answer.view, 'modal', workspace.newId));
      } else if (answer.response_action === 'push') {
        views.push(user.id, checkView(answer.view, 'modal', workspace.newId));
      } else if (answer.response_action === 'errors') {
        view.errors = errorsSchema.parse(answer.errors);
        const unknown = Object.keys(view.errors).filter(
          (id) => !view.blocks.some((block) => block.block_id === id && block.type === 'input'),
        );
        if (unknown.length > 0)
          violations.push(`view_submission: errors for no input: ${unknown.join(', ')}`);
        workspace.changed();
        return { ...answered(delivery), errors: view.errors };
      } else throw new SyntaxError('no response_action');
      return answered(delivery);
    } catch (error) {
      const why = error instanceof z.ZodError ? 'errors that are none' : refusalOf(error);
      violations.push(`view_submission: answered with ${why}`);
      return { ...answered(delivery), ok: false, failed: 'dispatch_failed' };
    }
  }

  /** An input says nothing before it is submitted, unless its block wants that. */
  function sendsNothing({ blocks }: Target, { blockId }: Control): boolean {
    const block = blocks.find((candidate) => candidate.block_id === blockId);
    return block?.type === 'input' && block.dispatch_action !== true;
  }

  async function choose(target: Target, control: Control, chosen: Chosen): Promise<Answer> {
    const { blockId, element, label } = control;
    if (sendsNothing(target, control)) throw new Impossible(`${label} sends nothing by itself`);
    const choice = choiceOf(workspace, user, control, chosen);
    if (element.type !== 'overflow') {
      const values = filled.get(target) ?? {};
      const held = { ...values[blockId], [String(element.action_id)]: choice };
      filled.set(target, { ...values, [blockId]: held });
    }
    return act(target, control, choice);
  }

  return {
    async clicks(target, label, { triggerId, below: words } = {}) {
      const below = words === undefined ? undefined : { words, names: namesOf(workspace) };
      const control = clickableIn(target.blocks, label, below);
      const isMenu = control.element.type === 'overflow';
      return act(target, control, isMenu ? choiceOf(workspace, user, control, label) : {}, triggerId);
    },

    asked(target, label) {
      const { confirm } = clickableIn(target.blocks, label).element;
      if (confirm === undefined) return undefined;
      const dialog = confirm as Record<'title' | 'text' | 'confirm' | 'deny', { text: string }>;
      const { title, text, confirm: yes, deny: no } = dialog;
      return { title: title.text, text: text.text, buttons: [yes.text, no.text] };
    },

    async chooses(target, label, chosen) {
      const controls = controlsOf(target.blocks);
      const control = controls.find((candidate) => candidate.label === label || candidate.blockId === label);
      if (!control)
        throw new Impossible(`Nothing called ${label}; there is ${controls.map((c) => c.label).join(', ')}`);
      return choose(target, control, chosen);
    },

    async uses(target, { blockId, actionId }, chosen) {
      const same = controlsOf(target.blocks).filter(({ element }) => element.action_id === actionId);
      // An edit gives blocks other ids, maybe just before a click that still means the same button.
      const control =
        same.find((one) => one.blockId === blockId) ?? (same.length === 1 ? same[0] : undefined);
      if (!control) throw new Impossible('This button or menu is gone');
      if (control.element.type.endsWith('button')) return act(target, control, {});
      if (chosen === undefined) throw new Impossible(`Nothing was chosen in ${control.label}`);
      return choose(target, control, chosen);
    },

    fields() {
      const view = visible();
      return fieldsOf(workspace, view, filled.get(view) ?? {});
    },

    fills,

    async submits(given = {}) {
      const view = visible();
      if (!view.definition.submit) throw new Impossible('This modal has nothing to submit');
      fills(given);
      const values = filled.get(view) ?? {};
      checkComplete(view.blocks, values);
      const payload = {
        ...interaction(inside, 'view_submission', user),
        trigger_id: triggers.issue(user.id),
        view: views.json(view, stateOf(view.blocks, values)),
        response_urls: [],
      };
      return requests.send(
        requests.payload(`view_submission ${view.definition.callback_id ?? ''}`, payload, (delivery) =>
          submitted(view, delivery),
        ),
      );
    },

    async closes() {
      const view = visible();
      views.pop(user.id);
      if (!view.definition.notify_on_close) return undefined;
      const payload = {
        ...interaction(inside, 'view_closed', user),
        view: views.json(view),
        is_cleared: false,
      };
      return requests.send(requests.payload(`view_closed ${view.definition.callback_id ?? ''}`, payload));
    },

    async usesShortcut(name, target, options = {}) {
      const type = target ? 'message' : 'global';
      const shortcut = manifest.shortcuts.find((known) => known.name === name && known.type === type);
      if (!shortcut) throw new Impossible(`The manifest has no ${type} shortcut ${name}`);
      const base = {
        ...interaction(inside, target ? 'message_action' : 'shortcut', user),
        callback_id: shortcut.callbackId,
        trigger_id: triggers.issue(user.id, options.triggerId),
        action_ts: workspace.newTs(),
      };
      if (!target) return requests.send(requests.payload(`shortcut ${name}`, base));
      const channel = seen(target);
      const { container: _, ...message } = messageOrigin(inside, channel, target);
      const place = { channel: channel.id, user: user.id };
      const payload = { ...base, ...message, message_ts: target.ts, response_url: replies.urlFor(place) };
      return requests.send(requests.payload(`message_action ${name}`, payload));
    },
  };
}
