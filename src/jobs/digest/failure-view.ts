import type { Part } from '../../slack/blocks.ts';
import { cut, lowerFirst, sanitizeUserText, singleLine } from '../../slack/text.ts';
import { projectMissingText } from '../wording-view.ts';
import type { EditionEnding } from './edition/record.ts';
import type { PlatformCause } from './model.ts';

/** Whether Slack refuses a post because the app is not in the conversation. */
export const isNotThere = (code: string | undefined) =>
  code === 'not_in_channel' || code === 'channel_not_found';

/**
 * Returns why a digest failed, and the fix; the channel is named earlier. `code` is Slack's, or a reference. `again` is how to post it after the fix,
 * `retry` says so if no fix is known, and `orElse` is an alternative.
 */
export function failureParts(
  failure: Pick<EditionEnding, 'why' | 'code' | 'cause'> | undefined,
  project: string,
  { again, retry, orElse }: { again: string; retry: string; orElse?: string },
): { why: Part[]; fix: Part[] } {
  const code = cut(singleLine(failure?.code ?? ''), 60);
  const instead = orElse === undefined ? '' : `; or ${orElse}`;
  switch (failure?.why) {
    case 'place':
      if (isNotThere(code))
        return {
          why: ["I'm not in that channel."],
          fix: ['Type ', { code: '/invite @Docket' }, ` there, then ${again}.`],
        };
      return code === 'is_archived'
        ? { why: ['it is archived.'], fix: [`Unarchive it, then ${again}${instead}.`] }
        : {
            why: [`Slack doesn't let me post there (${code}).`],
            fix: [`Let me post there, then ${again}${instead}.`],
          };
    case 'project':
      return {
        why: [`${lowerFirst(projectMissingText({ project }))}.`],
        fix: [`The people who run Docket have to add it; then ${again}.`],
      };
    case 'permission':
      return {
        why: ['you may no longer set up digests.'],
        fix: [`Ask the people who run Docket for the permission, then ${again}.`],
      };
    case 'broken':
      return { why: [`something broke on my side. ref ${code}`], fix: [retry] };
    default: {
      const { cause } = failure ?? {};
      const toMend = cause?.status === 400 ? 'find out why' : cause && MENDING[cause.kind];
      return {
        why: [`${causeText(failure?.cause)}.`],
        fix: [toMend === undefined ? retry : `The people who run Docket have to ${toMend}; then ${again}.`],
      };
    }
  }
}

const MENDING: Partial<Record<PlatformCause['kind'], string>> = {
  key: 'give me a key that works',
  forbidden: 'check that the plan, the IP allowlist and the key allow it',
  lost: 'check that the projectId in my settings is right',
};

/** Returns why the platform gives no numbers, as the end of a sentence. */
export function causeText(cause: PlatformCause | undefined): string {
  if (cause === undefined) return 'the platform gave no numbers';
  const { kind, status, said } = cause;
  const code = status === undefined ? '' : ` (${status})`;
  const words = said === undefined ? '' : `: "${sanitizeUserText(said, 200).replaceAll('"', "'")}"`;
  switch (kind) {
    case 'key':
      return `the platform rejects my key${code}`;
    case 'forbidden':
      return `the platform refuses to give numbers${code}${words}`;
    case 'lost':
      return `the platform doesn't know this project${code}`;
    case 'limit':
      return status === undefined
        ? "my share of the platform's hourly limit is used up"
        : "the platform's hourly limit is used up, partly by others";
    case 'down':
      if (status === undefined) return "the platform doesn't answer";
      return status >= 500
        ? `the platform answers with errors${code}`
        : `I can't read the platform's answers${code}`;
  }
}
