import { defineRestore } from '../engine/restore.ts';
import { startStep } from '../operation/record.ts';
import { type ExportRun, exportRun } from './record.ts';
import { cardKey, exportMessages, privateKey } from './view.ts';

export const exportRestore = defineRestore<ExportRun>({
  job: 'export',
  schema: exportRun,

  keys(run) {
    const { id, attempt, resumed } = run;
    const cards = [false, true].map((inDirectMessage) => cardKey({ ...run, inDirectMessage }));
    const ends = [`${id}.end.${attempt}.${resumed}`, privateKey(run, resumed)];
    const present = exportMessages(run).map(({ key }) => key);
    return [...present, ...cards, ...ends, `${id}.progress`, `${id}.question.${attempt}`];
  },

  async close({ run }, { doubt }) {
    if (run.joined || !['accepted', 'postingCard', 'starting'].includes(run.state)) return {};
    return (await doubt(run, startStep(run))) ? { exports: 1 } : {};
  },
});

export const linkRestore = defineRestore<ExportRun>({
  job: 'link',
  schema: exportRun,
  keys: (run) => [privateKey(run, 0), `${privateKey(run, 0)}.${run.relinked + 1}`],
});
