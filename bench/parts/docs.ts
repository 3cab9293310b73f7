import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findServer } from '../../src/store/embedded-redis.ts';

const DOCS = fileURLToPath(new URL('../../docs/', import.meta.url));
/** Where the pictures go. */
export const PLOTS = join(DOCS, 'benchmarks');

/** What each bench is about, in the order of the page. */
const SECTIONS: Record<string, { title: string; about: string }> = {
  acknowledge: {
    title: 'Acknowledging commands',
    about: `How long Slack waits for the acknowledgement of \`/docs-export\`. The floor is a bare Bolt app that adds one BullMQ
job and answers. Docket looks up who asks and whether they may, keeps the export in a write with a deadline, and answers;
its BullMQ job follows, and counts in the processor time.`,
  },
  'reply-latency': {
    title: 'From a reply to the agent',
    about: `From a reply in Slack to the call that the docs platform receives. The floor is a bare Bolt app on BullMQ between
the same two requests. Docket also keeps the reply, loads its thread, and saves that the call is on its way before it
makes it, so that no instruction is sent twice or lost. Slack delivers 30,000 events of a workspace an hour at most, 8 a
second; here come 20. The bound is on what people notice, the slow ones.`,
  },
  'watched-exports': {
    title: 'Thousands of exports in one process',
    about: `How late polls are while one worker watches 5,000 exports, with the platform's limit lifted and Slack's as they are.
The floor is bare BullMQ, which polls as often and does nothing else; it is measured after Docket, for as long.`,
  },
  'second-worker': {
    title: 'A second worker process',
    about: `Polls a second where there are always more that are due and the platform takes half a second for each: a worker
waits most of the time, as it does in production. One alone is the floor of two.`,
  },
  idle: {
    title: 'At rest',
    about: `A process that \`npm start\` started, and that nobody asks for anything. Redis is a process of its own.`,
  },
};

/** Writes docs/benchmarks.md from what each bench printed. */
export function writeDocs(printed: ReadonlyMap<string, string>): void {
  const [cpu] = cpus();
  const server = findServer(process.env.PATH ?? '');
  const version = spawnSync(server, ['--version'], { encoding: 'utf8' }).stdout;
  const machine = [
    `${cpus().length} cores (${cpu?.model.trim() ?? 'unknown'})`,
    `${Math.round(totalmem() / 1024 ** 3)} GB`,
    `Node ${process.version.slice(1)}`,
    `${/^\w+/.exec(version)?.[0]} ${/v=(\S+)/.exec(version)?.[1]} with \`appendfsync always\``,
  ].join(', ');
  const sections = Object.entries(SECTIONS).map(([name, { title, about }]) => {
    const picture = existsSync(join(PLOTS, `${name}.svg`)) ? `\n![${title}](benchmarks/${name}.svg)\n` : '';
    const table = printed.get(name) ?? '';
    return `## ${title}\n\n${about}\n${picture}\n\`\`\`text\n${table.trim()}\n\`\`\`\n`;
  });
  const page = `# Benchmarks

Written by \`npm run bench -- figures --write-docs\` on ${new Date().toISOString().slice(0, 10)}: ${machine}.

Where there is a floor, it is of the same run: the same Redis, the same kind of work without Docket, warm. Docket, floors,
and the stand-ins of Slack and of the docs platform are processes of their own, and share the cores of one machine, so what
counts is the ratio. Commands and replies take turns with their floor in short blocks, of which the median counts. \`ok\` and
\`BROKEN\` say whether a bound held.

${sections.join('\n')}`;
  writeFileSync(join(DOCS, 'benchmarks.md'), page);
}
