import { type ButtonParts, type Message, message } from '../../slack/blocks.ts';
import { SLACK_LIMITS } from '../../slack/limits.ts';
import { cut, singleLine } from '../../slack/text.ts';
import { exportActions, type UseDomain } from './buttons.ts';

/** Opens the modal that asks what to export. */
export const exportSiteButton: ButtonParts = {
  label: 'Export a site',
  action: exportActions.ask,
  value: JSON.stringify({ v: 1 }),
};

/** Answers a text that is not a host name. `suggested` is the likely domain; `use` is the button that takes it. */
export function badDomainMessage(typed: string, suggested: string | undefined, use?: ButtonParts): Message {
  const shown = { code: cut(singleLine(typed), 100) };
  if (suggested === undefined)
    return message([[shown, " isn't a host name. Type it like ", { code: 'docs.acme.com' }, '.']]);
  return message(
    [[shown, " isn't a host name. Did you mean ", { code: suggested }, '?']],
    use === undefined ? [] : [use],
  );
}

/** Answers an unknown domain. `meant` is a known domain that differs in a letter or two. */
export const misspeltMessage = (domain: string, meant: string, buttons: ButtonParts[]): Message =>
  message([[`I don't know ${domain}. Did you mean `, { code: meant }, '? Nothing was started.']], buttons);

/** Offers the export that a mention asked for; `request` is its id. Nothing starts without a click. */
export function exportOffer(
  request: string,
  { site, typed }: { site?: string | undefined; typed?: string | undefined },
): Message {
  if (site === undefined)
    return typed === undefined
      ? message([['Which site? For example: ', { code: '@Docket export docs.acme.com' }]], [exportSiteButton])
      : badDomainMessage(typed, undefined);
  const value: UseDomain = { v: 1, domain: site, privately: false, request };
  const button: ButtonParts = {
    label: cut(`Export ${site}`, SLACK_LIMITS.buttonText),
    action: exportActions.useDomain,
    value: JSON.stringify(value),
    style: 'primary',
  };
  return typed === undefined
    ? message([[`Export ${site} now?`]], [button])
    : badDomainMessage(typed, site, button);
}
