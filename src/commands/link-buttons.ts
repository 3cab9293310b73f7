import { anotherLink, linkActions, linkButton, linkRun } from '../jobs/link/run.ts';
import { message } from '../slack/blocks.ts';
import { defineButton } from './command.ts';

const notYours = message([['This link is not yours. Ask for one of your own in the thread of the export.']]);

const gone = message([['I no longer remember this link. Ask for a new one in the thread of the export.']]);

const newer = message([['You have a newer link to this export: look for it here.']]);

/** [New link] and [Try again] in the direct message with one's own link. A second click finds it being made. */
export const linkAgainButton = defineButton({
  action: linkActions.again,
  may: 'export',
  value: linkButton,
  async run({ run: runId, made }, caller, tools) {
    const run = await tools.intake.load(runId, linkRun, caller);
    if (run === undefined) return gone;
    if (run.to.id !== caller.user.id) return notYours;
    const next = run.made === made ? anotherLink(run, tools.now()) : undefined;
    const taken = next && (await tools.intake.resume(next, caller, true));
    return taken?.kind === 'claimed' ? newer : undefined;
  },
});
