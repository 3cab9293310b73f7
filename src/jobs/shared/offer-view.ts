import type { ButtonParts } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cut } from '../../slack/text.ts';
import type { UseDomain } from './target.ts';

/** The action of the button that exports a target, in the messages of any feature. */
export const USE_DOMAIN = 'export.use_domain';

/** Returns the button that exports this target; none if the target does not fit into its value. */
export function targetButtons(
  label: string,
  { domain, project, version, paths, privately, request, chosen }: Omit<UseDomain, 'v'>,
  more: Partial<ButtonParts> = {},
): ButtonParts[] {
  const wanted: UseDomain = { v: 1, domain, project, version, paths, privately, request, chosen };
  const value = JSON.stringify(wanted);
  if (value.length > SLACK_LIMITS.buttonValue) return [];
  return [{ label: cut(label, SLACK_LIMITS.buttonText), action: USE_DOMAIN, value, ...more }];
}
