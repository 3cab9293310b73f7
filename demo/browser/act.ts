import { Impossible } from '../slack/impossible.ts';
import type { Person } from '../slack/person.ts';
import type { Answer } from '../slack/requests.ts';
import type { StandInSlack } from '../slack/slack.ts';
import type { View } from '../slack/views.ts';
import type { Channel, Ephemeral, SentMessage } from '../slack/workspace.ts';
import type { Action, Outcome, Target } from './protocol.ts';
import { sentence } from './sentences.ts';

type Place = { channel: string; ts: string };

/** Does what a visitor did on the page. What Slack's client would refuse, or say about it, is the outcome's problem. */
export async function act(slack: StandInSlack, action: Action): Promise<Outcome> {
  try {
    return await done(slack, slack.person(action.as), action);
  } catch (error) {
    if (error instanceof Impossible) return { ok: false, problem: sentence(error.message) };
    throw error;
  }
}

async function done(slack: StandInSlack, person: Person, action: Action): Promise<Outcome> {
  switch (action.do) {
    case 'write':
      return write(slack, person, action);
    case 'edit':
      if (action.text.trim() === '') throw new Impossible('A message needs a text');
      await person.edits(messageAt(slack, person, action), action.text);
      return { ok: true };
    case 'delete':
      await person.deletes(messageAt(slack, person, action));
      return { ok: true };
    case 'react': {
      const message = messageAt(slack, person, action);
      await (action.wanted ? person.reacts(message, action.name) : person.unreacts(message, action.name));
      return { ok: true };
    }
    case 'use': {
      const { blockId, actionId, chosen } = action;
      return outcomeOf(
        await person.uses(targetAt(slack, person, action.target), { blockId, actionId }, chosen),
      );
    }
    case 'submit':
      return outcomeOf(await person.submits(action.values));
    case 'close': {
      const answer = await person.closes();
      return answer ? outcomeOf(answer) : { ok: true };
    }
    case 'open-home':
      await person.opensHome();
      return { ok: true };
    case 'shortcut': {
      const message = action.message && messageAt(slack, person, action.message);
      return outcomeOf(await person.usesShortcut(action.name, message));
    }
  }
}

async function write(
  slack: StandInSlack,
  person: Person,
  { channel: id, text, threadTs, alsoToChannel }: Extract<Action, { do: 'write' }>,
): Promise<Outcome> {
  const channel = channelAt(slack, person, id);
  if (text.trim() === '') throw new Impossible('A message needs a text');
  const command = /^\s*(\/[^\s/]\S*)/.exec(text)?.[1];
  if (command === undefined) {
    await person.says(channel.id, text, {
      ...(threadTs !== undefined && { threadTs }),
      ...(alsoToChannel !== undefined && { alsoToChannel }),
    });
    return { ok: true };
  }
  const name = command.slice(0, 32);
  if (threadTs !== undefined) return refused(`${name} is not supported in threads. Sorry!`);
  const { failed } = await person.types(channel.id, text);
  switch (failed) {
    case undefined:
      return { ok: true };
    case 'unknown_command':
      return refused(
        `${name} is not a valid command. In Slack, all of your commands start with “/”. Did you mean one of ${slack.manifest.commands.map((known) => known.command).join(', ')}?`,
      );
    case 'operation_timeout':
      return refused(`${name} failed because the app did not respond.`);
    default:
      return refused(`${name} failed with the error “${failed}”.`);
  }
}

const refused = (problem: string): Outcome => ({ ok: false, problem });

/** What a click, a choice or a modal came to. */
function outcomeOf({ ok, failed }: Answer): Outcome {
  if (ok) return { ok: true };
  return refused(
    failed === 'operation_timeout'
      ? 'Docket did not answer in time.'
      : 'That did not work: Docket could not be reached, or gave no proper answer.',
  );
}

function channelAt({ workspace }: StandInSlack, person: Person, id: string): Channel {
  const channel = workspace.channels.find((one) => one.id === id && one.members.has(person.id));
  if (!channel) throw new Impossible(`${person.name} is not in this conversation`);
  return channel;
}

function messageAt(slack: StandInSlack, person: Person, { channel, ts }: Place): SentMessage {
  const { id } = channelAt(slack, person, channel);
  const found = slack.messages.find((one) => one.channel === id && one.ts === ts && !one.deleted);
  if (!found) throw new Impossible('This message is gone');
  return found;
}

function targetAt(slack: StandInSlack, person: Person, target: Target): SentMessage | Ephemeral | View {
  if ('view' in target) {
    const found = [person.modal(), person.home()].find((view) => view?.id === target.view);
    if (!found) throw new Impossible('This was closed');
    return found;
  }
  if (!target.ephemeral) return messageAt(slack, person, target);
  const { id } = channelAt(slack, person, target.channel);
  const found = slack.ephemerals.find(
    (one) => one.channel === id && one.ts === target.ts && one.to === person.id && !one.deleted,
  );
  if (!found) throw new Impossible('This message is gone');
  return found;
}
