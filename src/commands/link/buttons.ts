import { linkActions, linkButton, linkKind, renewLink } from '../../jobs/link/record.ts';
import { message } from '../../slack/blocks.ts';
import { retryStale } from '../intake.ts';
import { defineButton, type Registry } from '../registry.ts';

const notYours = message([["This link isn't yours. Ask for your own in the export's thread."]]);

const notFound = message([["I no longer remember this link. Ask for a new one in the export's thread."]]);

const newerLinkExists = message([['You have a newer link to this export: look for it here.']]);

const alreadyHandled = message([['You already asked for it again: see the latest message about it here.']]);

/** [New link] and [Get the link] in a direct message. A second click finds the link in progress. */
const newLinkButton = defineButton({
  action: linkActions.again,
  may: 'export',
  value: linkButton,
  run({ run: runId, made }, caller, tools) {
    return retryStale('link', async () => {
      const found = await tools.intake.loadVisible(runId, linkKind, caller);
      if (found.kind !== 'found') return found.kind === 'notFound' ? notFound : notYours;
      const { run } = found;
      const next = renewLink(run, tools.now());
      if (next === undefined) return undefined;
      if (run.made !== made) return run.state === 'sent' ? newerLinkExists : alreadyHandled;
      const acceptance = await tools.intake.resume(next, caller, true);
      if (acceptance.kind === 'claimed') return newerLinkExists;
      return acceptance.kind === 'stale' ? 'stale' : undefined;
    });
  },
});

export const linkCommands = {
  buttons: [newLinkButton],
  urlActions: [linkActions.download],
} satisfies Partial<Registry>;
